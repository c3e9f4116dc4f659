/** The texts by which filters find a row of a table, computed when a filter first reads them. Pure. */
import type { TableColumn, TableRow } from '../../cluster/plan/table-rows.ts';
import type { Searchable } from '../../search/plan/query.ts';
import { type Health, healthReader } from './health.ts';

export interface SearchableRow extends Searchable {
  readonly row: TableRow;
}

/** Returns a field for a column: `nominatednode` for `Nominated Node`. */
const fieldOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Returns a function from a row of these columns to the texts by which filters find it. */
export function rowSearcher(columns: readonly TableColumn[]): (row: TableRow) => SearchableRow {
  const places = new Map(columns.map(({ name }, index) => [fieldOf(name), index]));
  const healthOf = healthReader(columns);
  return (row) => new RowSide(row, places, healthOf(row.cells));
}

class RowSide implements SearchableRow {
  readonly row: TableRow;
  readonly health: Health | undefined;
  /** Indexes of cells by field. */
  readonly #places: ReadonlyMap<string, number>;
  #text: string | undefined;
  #labels: readonly string[] | undefined;

  constructor(row: TableRow, places: ReadonlyMap<string, number>, health: Health | undefined) {
    this.row = row;
    this.#places = places;
    this.health = health;
  }

  get labels(): readonly string[] {
    this.#labels ??= Object.entries(this.row.metadata.labels ?? {}).map(([key, value]) =>
      `${key}=${value}`.toLowerCase(),
    );
    return this.#labels;
  }

  get text(): string {
    const { metadata, cells } = this.row;
    this.#text ??= [
      metadata.name,
      metadata.namespace ?? '',
      ...cells.filter((cell) => cell !== '<none>'),
      ...this.labels,
    ]
      .join(' ')
      .toLowerCase();
    return this.#text;
  }

  valuesOf(field: string): readonly string[] | undefined {
    const { metadata, cells } = this.row;
    if (field === 'name') return [metadata.name.toLowerCase()];
    if (field === 'ns' || field === 'namespace') return [(metadata.namespace ?? '').toLowerCase()];
    const place = this.#places.get(field);
    return place === undefined ? undefined : [String(cells[place] ?? '').toLowerCase()];
  }
}
