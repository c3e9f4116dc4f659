/** The rows of the server's tables (meta.k8s.io/v1 Table) as objects, which a reflector can keep. Pure. */
import type { KubeObject, ListMeta, ObjectMeta } from '../../../../apimachinery/meta.ts';
import type { WatchEvent } from '../../../../client/client.ts';

export interface TableColumn {
  readonly name: string;
  /** One of `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string;
  /** `name` for the column of names. */
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, greater numbers only in a wide table. */
  readonly priority?: number;
}

export interface Table {
  readonly metadata: ListMeta;
  /** Absent in the events of a watch after the first one. */
  readonly columnDefinitions?: readonly TableColumn[];
  readonly rows?: readonly ServedRow[];
}

export interface ServedRow {
  readonly cells: readonly unknown[];
  readonly object: { metadata: ObjectMeta };
}

export interface TableRow extends KubeObject {
  readonly cells: readonly unknown[];
}

export const rowOf = ({ cells, object }: ServedRow): TableRow => ({
  apiVersion: '',
  kind: '',
  metadata: object.metadata,
  cells,
});

const rowsOf = (table: Table): TableRow[] => (table.rows ?? []).map(rowOf);

/** Returns the events of the rows of a watch's event; a bookmark stays one, whatever form it has. */
export function rowEvent(event: WatchEvent<KubeObject>): WatchEvent<TableRow>[] {
  const table = event.object as unknown as Table;
  if (event.type === 'BOOKMARK') {
    const [row] = rowsOf(table);
    const { resourceVersion } = event.object.metadata;
    const object = row ?? { apiVersion: '', kind: '', metadata: event.object.metadata, cells: [] };
    const version = row?.metadata.resourceVersion || resourceVersion;
    return [
      { type: 'BOOKMARK', object: { ...object, metadata: { ...object.metadata, resourceVersion: version } } },
    ];
  }
  return rowsOf(table).map((object) => ({ type: event.type, object }));
}
