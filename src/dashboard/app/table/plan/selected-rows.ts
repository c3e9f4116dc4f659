/** The rows that a table shows: those that a filter selects, in the chosen order. Pure. */
import type { TableColumn, TableRow } from '../../cluster/plan/table-rows.ts';
import { matchesQuery, parseQuery } from '../../search/plan/query.ts';
import { cellKeyOf } from './cells.ts';
import type { ShownColumn } from './columns.ts';
import { rowSearcher, type SearchableRow } from './searchable-row.ts';
import { type Order, sorted } from './sort.ts';

/** Keeps what was derived from a row as long as the row and the columns are the same. */
export class RowCache {
  #columns: readonly TableColumn[] = [];
  #make = rowSearcher([]);
  #made = new WeakMap<TableRow, SearchableRow>();

  of(columns: readonly TableColumn[], rows: readonly TableRow[]): SearchableRow[] {
    if (columns !== this.#columns) {
      this.#columns = columns;
      this.#make = rowSearcher(columns);
      this.#made = new WeakMap();
    }
    return rows.map((row) => {
      const known = this.#made.get(row);
      if (known) return known;
      const made = this.#make(row);
      this.#made.set(row, made);
      return made;
    });
  }
}

/** Returns the rows that a filter selects; without an order they are sorted by namespace and name. */
export function selectedRows(
  rows: readonly SearchableRow[],
  filter: string,
  shown: readonly ShownColumn[],
  order: Order | undefined,
): readonly SearchableRow[] {
  const query = parseQuery(filter);
  const found = query.terms.length === 0 ? rows : rows.filter((row) => matchesQuery(row, query));
  const column = shown.find(({ name }) => name === order?.column);
  if (!column || !order) return found.toSorted(byName);
  return sorted(found, order.direction, ({ row }) => cellKeyOf(column, row));
}

/** Compares as the API server orders lists; a watch sends new rows in the order of their creation. */
function byName({ row: { metadata: a } }: SearchableRow, { row: { metadata: b } }: SearchableRow): number {
  return compared(a.namespace ?? '', b.namespace ?? '') || compared(a.name, b.name);
}

const compared = (a: string, b: string): number => Number(a > b) - Number(a < b);
