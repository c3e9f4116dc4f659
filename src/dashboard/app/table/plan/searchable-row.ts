/** The searchable side of a row of a table. Pure. */
import type { TableColumn, TableRow } from '../../cluster/plan/table-rows.ts';
import type { Searchable } from '../../search/plan/query.ts';
import { healthOf } from './health.ts';

export interface SearchableRow extends Searchable {
  readonly row: TableRow;
}

/** Returns a field for a column: `nominatednode` for `Nominated Node`. */
const fieldOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

export function searchableRow(columns: readonly TableColumn[], row: TableRow): SearchableRow {
  const { metadata, cells } = row;
  const fields = new Map<string, readonly string[]>();
  const texts = [metadata.name, metadata.namespace ?? ''];
  columns.forEach(({ name }, index) => {
    const text = String(cells[index] ?? '');
    fields.set(fieldOf(name), [text.toLowerCase()]);
    if (text !== '<none>') texts.push(text);
  });
  const namespace = [(metadata.namespace ?? '').toLowerCase()];
  fields.set('name', [metadata.name.toLowerCase()]);
  fields.set('namespace', namespace);
  fields.set('ns', namespace);
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`.toLowerCase());
  return {
    row,
    text: `${texts.join(' ')} ${labels.join(' ')}`.toLowerCase(),
    fields,
    labels,
    health: healthOf(columns, cells),
  };
}
