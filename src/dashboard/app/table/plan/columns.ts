/** The columns that a table shows, and their widths. Pure. */
import type { TableColumn, TableRow } from '../../cluster/plan/table-rows.ts';

export interface ShownColumn extends TableColumn {
  /** Index of its cells in the server's rows; -1 for the namespace, which the server sends as metadata. */
  readonly index: number;
}

export const namespaceColumn: ShownColumn = {
  name: 'Namespace',
  type: 'string',
  description: 'The namespace of the object.',
  priority: 0,
  index: -1,
};

export interface ColumnChoice {
  readonly columns: readonly TableColumn[];
  /** True if the rows are of several namespaces. */
  readonly hasNamespaces: boolean;
  /** True to show the columns of low priority too. */
  readonly isWide: boolean;
  /** True for a narrow screen, which has room for only the most important columns. */
  readonly isNarrow: boolean;
}

/** Columns that a narrow screen shows besides the name. */
const essential = new Set(['status', 'ready', 'phase', 'completions']);

export function shownColumns({ columns, hasNamespaces, isWide, isNarrow }: ColumnChoice): ShownColumn[] {
  const all = columns.map((column, index) => ({ ...column, index }));
  const chosen = all.filter(({ priority = 0 }) => isWide || priority === 0);
  const name = chosen.filter(({ format }) => format === 'name');
  const others = chosen.filter(({ format }) => format !== 'name');
  if (!isNarrow) return [...name, ...(hasNamespaces ? [namespaceColumn] : []), ...others];
  const kept = others.filter((column) => essential.has(column.name.toLowerCase()));
  return [...name, ...(kept.length > 0 ? kept : others).slice(0, 2)];
}

const minCharacters = 5;
const maxCharacters = 44;
/** Number of rows, from the first, whose cells are measured. */
const sample = 200;

/** Returns the width of each column in characters, from the lengths of its title and its cells. */
export function widthsOf(
  columns: readonly ShownColumn[],
  rows: readonly { readonly row: TableRow }[],
): number[] {
  const measured = rows.slice(0, sample);
  return columns.map(({ name, index }) => {
    const lengths = measured.map(({ row: { cells, metadata } }) =>
      index < 0 ? (metadata.namespace ?? '').length : String(cells[index] ?? '').length,
    );
    const longest = Math.max(name.length + 2, ...lengths);
    return Math.min(maxCharacters, Math.max(minCharacters, longest));
  });
}
