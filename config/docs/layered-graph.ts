/**
 * Layout of a graph in rows, after Sugiyama: a node stands above everything that it points to, arrows that
 * follow from others are left out, and the order within a row keeps arrows from crossing. Pure.
 */

/** Targets of each node. The graph must have no cycle. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** A node, or the point where an arrow passes a row (`name` is undefined). */
export interface Cell {
  readonly name: string | undefined;
  readonly row: number;
  /** Center, in pixels. */
  x: number;
  readonly width: number;
}

export interface Layout {
  /** Rows from the bottom to the top, each from left to right. */
  readonly rows: readonly (readonly Cell[])[];
  /** The cells that each arrow passes, from its source to its target. */
  readonly arrows: readonly (readonly Cell[])[];
}

const gap = 26;
const bendWidth = 10;
const sweeps = 24;

/** Returns the graph without the arrows that a longer way through other nodes implies. */
export function reduced(graph: Graph): Graph {
  const below = new Map<string, Set<string>>();
  const reach = (node: string): Set<string> => {
    const known = below.get(node);
    if (known) return known;
    const found = new Set<string>();
    for (const target of graph.get(node) ?? []) {
      found.add(target);
      for (const further of reach(target)) found.add(further);
    }
    below.set(node, found);
    return found;
  };
  const isImplied = (source: string, target: string) =>
    [...(graph.get(source) ?? [])].some((other) => other !== target && reach(other).has(target));
  return new Map(
    [...graph].map(([source, targets]) => [
      source,
      new Set([...targets].filter((target) => !isImplied(source, target))),
    ]),
  );
}

/** Returns the row of each node: 0 for one that points to nothing, else one above its highest target. */
export function rowsOf(graph: Graph): Map<string, number> {
  const rows = new Map<string, number>();
  const rowOf = (node: string): number => {
    const known = rows.get(node);
    if (known !== undefined) return known;
    const row = Math.max(0, ...[...(graph.get(node) ?? [])].map((target) => rowOf(target) + 1));
    rows.set(node, row);
    return row;
  };
  for (const node of graph.keys()) rowOf(node);
  return rows;
}

/** Returns the layout of a graph whose nodes have the given widths, in pixels. */
export function layoutOf(graph: Graph, widthOf: (node: string) => number): Layout {
  const rowOf = rowsOf(graph);
  const rows: Cell[][] = Array.from({ length: Math.max(...rowOf.values()) + 1 }, () => []);
  const put = (name: string | undefined, row: number, width: number): Cell => {
    const cell = { name, row, x: 0, width };
    rows[row]?.push(cell);
    return cell;
  };
  const cells = new Map(
    [...rowOf].map(([name, row]): [string, Cell] => [name, put(name, row, widthOf(name))]),
  );
  const arrows = [...graph].flatMap(([source, targets]) =>
    [...targets].map((target) => {
      const [from, to] = [cells.get(source), cells.get(target)];
      if (!from || !to) throw new Error(`arrow from ${source} to ${target}: no such node`);
      const bends = Array.from({ length: from.row - to.row - 1 }, (_, index) =>
        put(undefined, from.row - 1 - index, bendWidth),
      );
      return [from, ...bends, to];
    }),
  );
  place(rows, neighboursOf(arrows));
  return { rows, arrows };
}

interface Neighbours {
  readonly above: Cell[];
  readonly below: Cell[];
}

function neighboursOf(arrows: readonly (readonly Cell[])[]): Map<Cell, Neighbours> {
  const found = new Map<Cell, Neighbours>();
  const of = (cell: Cell): Neighbours => {
    const known = found.get(cell) ?? { above: [], below: [] };
    found.set(cell, known);
    return known;
  };
  for (const arrow of arrows)
    for (const [index, cell] of arrow.entries()) {
      const next = arrow[index + 1];
      if (!next) continue;
      of(cell).below.push(next);
      of(next).above.push(cell);
    }
  return found;
}

/** Orders each row by the mean place of its neighbours, up and down in turn, and then sets the centers. */
function place(rows: Cell[][], neighbours: ReadonlyMap<Cell, Neighbours>): void {
  for (const row of rows) spread(row, new Map());
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const side = sweep % 2 === 0 ? 'below' : 'above';
    for (const row of side === 'below' ? rows : rows.toReversed()) {
      const wanted = new Map(row.map((cell) => [cell, meanOf(neighbours.get(cell)?.[side] ?? [], cell.x)]));
      row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      spread(row, wanted);
    }
  }
  const left = Math.min(...rows.flat().map(({ x, width }) => x - width / 2));
  for (const cell of rows.flat()) cell.x = Math.round(cell.x - left);
}

const meanOf = (cells: readonly Cell[], otherwise: number) =>
  cells.length === 0 ? otherwise : cells.reduce((sum, { x }) => sum + x, 0) / cells.length;

/** Sets the centers of a row as near to the wanted ones as its widths allow, in the row's order. */
function spread(row: readonly Cell[], wanted: ReadonlyMap<Cell, number>): void {
  const aims = row.map((cell) => wanted.get(cell) ?? 0);
  let edge = Number.NEGATIVE_INFINITY;
  for (const [index, cell] of row.entries()) {
    cell.x = Math.max(aims[index] ?? 0, edge + gap + cell.width / 2);
    edge = cell.x + cell.width / 2;
  }
  const shift = meanOf(row, 0) - aims.reduce((sum, aim) => sum + aim, 0) / Math.max(1, aims.length);
  for (const cell of row) cell.x -= shift;
}
