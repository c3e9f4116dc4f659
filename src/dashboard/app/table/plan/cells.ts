/** Texts and sort keys of the cells of a row. Pure. */
import { ageSince } from '../../../../apimachinery/age.ts';
import type { TableRow } from '../../cluster/plan/table-rows.ts';
import type { ShownColumn } from './columns.ts';
import { type SortKey, sortKeyOf } from './sort.ts';

const isAge = ({ name }: ShownColumn) => name === 'Age';

/**
 * Returns the text of a cell; an age is computed for `now`, since the answer of the server has the age at the
 * time of the answer.
 */
export function textOf(column: ShownColumn, { cells, metadata }: TableRow, now: number): string {
  if (column.index < 0) return metadata.namespace ?? '';
  if (isAge(column) && metadata.creationTimestamp) return ageSince(metadata.creationTimestamp, now);
  const cell = cells[column.index];
  return cell === undefined || cell === null ? '' : String(cell);
}

export function cellKeyOf(column: ShownColumn, { cells, metadata }: TableRow): SortKey {
  if (column.index < 0) return metadata.namespace;
  if (column.format === 'name') return metadata.name;
  // The newest object has the smallest age.
  if (isAge(column)) return -Date.parse(metadata.creationTimestamp ?? '') || undefined;
  return sortKeyOf(cells[column.index]);
}
