/** Picture of the folders of src/ and of their imports, as SVG. Pure. */

import { layerOf, rooms } from '../../test/fixtures/import-rules.ts';
import type { Import } from '../../test/fixtures/imports.ts';
import { type Cell, type Graph, type Layout, layoutOf, reduced } from './layered-graph.ts';

const margin = 20;
const titleHeight = 30;
const lineHeight = 16;
const rowGap = 44;
/** Widths of a character, in pixels, with room for fonts that are wider than usual. */
const titleCharacter = 8.6;
const smallCharacter = 6.6;
const padding = 20;
const roomsInALine = 3;

/**
 * Returns the picture: a box for each folder of src/, and an arrow from a folder to each that it imports,
 * without the arrows that follow from others. Each box stands above all that it imports.
 */
export function roomsPicture(imports: readonly Import[]): string {
  const graph = reduced(graphOf(imports));
  const lines = new Map([...graph.keys()].map((name) => [name, linesIn(name, imports)]));
  const linesOf = (name: string) => lines.get(name) ?? [];
  const layout = layoutOf(graph, (name) =>
    Math.ceil(
      padding +
        Math.max(name.length * titleCharacter, ...linesOf(name).map((line) => line.length * smallCharacter)),
    ),
  );
  return draw(layout, linesOf);
}

/** Returns the imports of each folder of src/ by folder; the files directly in src/ are `main`. */
export function graphOf(imports: readonly Import[]): Graph {
  const graph = new Map<string, Set<string>>();
  const targetsOf = (layer: string) => {
    const targets = graph.get(layer) ?? new Set();
    graph.set(layer, targets);
    return targets;
  };
  for (const { from, to } of imports) {
    if (!to.startsWith('src/') || layerOf(from) === layerOf(to)) continue;
    targetsOf(layerOf(to));
    targetsOf(layerOf(from)).add(layerOf(to));
  }
  return new Map([...graph].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the lines under a folder's name: its subfolders in their order, or the features. */
function linesIn(name: string, imports: readonly Import[]): string[] {
  const order = name === 'features' ? featuresOf(imports) : (rooms[`src/${name}`] ?? []);
  return Array.from({ length: Math.ceil(order.length / roomsInALine) }, (_, index) =>
    order.slice(index * roomsInALine, (index + 1) * roomsInALine).join(' · '),
  );
}

const featuresOf = (imports: readonly Import[]) =>
  [...new Set(imports.map(({ from }) => /^src\/features\/([^/]+)\//.exec(from)?.[1] ?? ''))]
    .filter((feature) => feature !== '')
    .sort();

function draw({ rows, arrows }: Layout, linesOf: (name: string) => readonly string[]): string {
  const heightOf = ({ name }: Cell) =>
    name === undefined ? 0 : titleHeight + linesOf(name).length * lineHeight;
  const heights = rows.map((row) => Math.max(...row.map(heightOf)));
  const width = Math.max(...rows.flat().map((cell) => cell.x + cell.width / 2)) + 2 * margin;
  const height = heights.reduce((sum, own) => sum + own, 0) + rowGap * (rows.length - 1) + 2 * margin;
  /** Tops of the rows: the last row of the layout is the first of the picture. */
  const topOf = (row: number) => margin + heights.slice(row + 1).reduce((sum, own) => sum + own + rowGap, 0);
  const middleOf = (row: number) => topOf(row) + (heights[row] ?? 0) / 2;
  const boxOf = (cell: Cell) => {
    const [own, x] = [heightOf(cell), cell.x + margin];
    const top = middleOf(cell.row) - own / 2;
    const title = `<text x="${x}" y="${top + 20}" class="name">${cell.name}</text>`;
    const more = linesOf(cell.name ?? '').map(
      (line, index) => `<text x="${x}" y="${top + 36 + index * lineHeight}" class="room">${line}</text>`,
    );
    const box = `<rect x="${x - cell.width / 2}" y="${top}" width="${cell.width}" height="${own}" rx="6"/>`;
    return [box, title, ...more].join('\n');
  };
  const arrowOf = (cells: readonly Cell[]) => {
    const points = cells.flatMap((cell, index): [number, number][] => {
      const [x, middle, half] = [cell.x + margin, middleOf(cell.row), heightOf(cell) / 2];
      if (index === 0) return [[x, middle + half]];
      if (index === cells.length - 1) return [[x, middle - half - 6]];
      const rowHalf = (heights[cell.row] ?? 0) / 2;
      return [
        [x, middle - rowHalf],
        [x, middle + rowHalf],
      ];
    });
    return `<path d="${curveThrough(points)}" marker-end="url(#tip)"/>`;
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>The folders of src/: each imports those that its arrows lead to</title>',
    '<style>',
    'rect { fill: #eef4fb; stroke: #3f6fa8 } path { fill: none; stroke: #7d8896; stroke-width: 1.2 }',
    'text { font-family: system-ui, sans-serif; text-anchor: middle; fill: #1c2733 }',
    '.name { font-size: 15px; font-weight: 600 } .room { font-size: 12px; fill: #4a5866 }',
    '.paper { fill: #fff; stroke: none } #tip path { fill: #7d8896; stroke: none }',
    '</style>',
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7"',
    'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...arrows.map(arrowOf),
    ...rows.flat().flatMap((cell) => (cell.name === undefined ? [] : [boxOf(cell)])),
    '</svg>',
    '',
  ].join('\n');
}

/** Returns the path of a line through the points that leaves and enters each of them vertically. */
function curveThrough(points: readonly (readonly [number, number])[]): string {
  return points
    .map(([x, y], index) => {
      const [fromX, fromY] = points[index - 1] ?? [x, y];
      if (index === 0) return `M${x} ${y}`;
      const middle = Math.round((fromY + y) / 2);
      return fromX === x ? `L${x} ${y}` : `C${fromX} ${middle} ${x} ${middle} ${x} ${y}`;
    })
    .join(' ');
}
