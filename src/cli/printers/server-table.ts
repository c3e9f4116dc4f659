/** Tables from the server (meta.k8s.io Table), and tables for objects of a server that returns none. */
import { ageSince } from '../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { formatLabels, itemsOf, metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import { cellText } from './table-writer.ts';

export const tableAccept =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

export interface Column {
  readonly name: string;
  /** Columns with a priority other than 0 are shown only with `-o wide`. */
  readonly priority: number;
  readonly isName: boolean;
}

export interface Row {
  readonly cells: readonly unknown[];
  /** The object or its metadata; {} if the server left it out. */
  readonly object: JsonObject;
}

export interface ServerTable {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/**
 * Reads a Table, a list or one object. `columns` are the columns of an earlier Table, since a watch sends
 * them only once.
 */
export function readTable(answer: JsonObject, now: number, columns: readonly Column[] = []): ServerTable {
  if (answer.kind !== 'Table') return fromObjects(itemsOf(answer), now);
  const defined = recordsAt(answer, 'columnDefinitions').map((column) => ({
    name: textAt(column, 'name'),
    priority: typeof column.priority === 'number' ? column.priority : 0,
    isName: column.format === 'name',
  }));
  const rows = recordsAt(answer, 'rows').map((row) => ({
    cells: Array.isArray(row.cells) ? row.cells : [],
    object: isRecord(row.object) ? row.object : {},
  }));
  return { columns: defined.length > 0 ? defined : columns, rows };
}

function fromObjects(objects: readonly JsonObject[], now: number): ServerTable {
  const columns = [
    { name: 'Name', priority: 0, isName: true },
    { name: 'Age', priority: 0, isName: false },
  ];
  const rows = objects.map((object) => {
    const { name, creationTimestamp } = metadataOf(object);
    return { cells: [name, ageSince(creationTimestamp, now)], object };
  });
  return { columns, rows };
}

export interface TableView {
  readonly wide: boolean;
  readonly withNamespace: boolean;
  readonly showLabels: boolean;
  /** Labels with a column of their own. */
  readonly labelColumns: readonly string[];
  /** Prefix of names, such as `deployment.apps`; empty for none. */
  readonly kindPrefix: string;
}

export function headerOf({ columns }: ServerTable, view: TableView): string[] {
  return [
    ...(view.withNamespace ? ['NAMESPACE'] : []),
    ...columns.filter((column) => isShown(column, view)).map(({ name }) => name.toUpperCase()),
    ...view.labelColumns.map((label) => label.slice(label.lastIndexOf('/') + 1).toUpperCase()),
    ...(view.showLabels ? ['LABELS'] : []),
  ];
}

export function rowsOf({ columns, rows }: ServerTable, view: TableView): string[][] {
  return rows.map(({ cells, object }) => {
    const { namespace, labels } = metadataOf(object);
    const shown = columns.flatMap((column, index) => {
      if (!isShown(column, view)) return [];
      const text = cellText(cells[index]);
      return [column.isName && view.kindPrefix ? `${view.kindPrefix}/${text}` : text];
    });
    return [
      ...(view.withNamespace ? [namespace] : []),
      ...shown,
      ...view.labelColumns.map((label) => labels[label] ?? ''),
      ...(view.showLabels ? [formatLabels(labels)] : []),
    ];
  });
}

const isShown = ({ priority }: Column, { wide }: TableView) => wide || priority === 0;
