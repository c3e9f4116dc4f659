/** Lists and watches of one kind by fetch, in the form that the reflector reads. */
import type { KubeList, KubeObject } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import type { ClientListOptions, ClientWatchOptions, WatchEvent } from '../../../client/client.ts';
import { collectionPath, listQuery, query } from '../../../client/resource-path.ts';
import { requestList } from './list-request.ts';
import type { ApiKind } from './plan/discovery.ts';
import {
  rowEvent,
  rowOf,
  type ServedRow,
  type Table,
  type TableColumn,
  type TableRow,
} from './plan/table-rows.ts';
import { watchLines } from './watch-lines.ts';
import { watchSocket } from './watch-socket.ts';

export interface FollowOptions extends ClientWatchOptions {
  /** Called when the server has begun to answer the watch. */
  readonly onOpen?: () => void;
}

export interface FollowedList<T> extends ClientListOptions {
  /** Called with the objects that have arrived so far, in an array that grows. */
  readonly onPart?: (objects: readonly T[]) => void;
}

export interface Followed<T extends KubeObject> {
  list(options?: FollowedList<T>): Promise<KubeList<T>>;
  watch(options: FollowOptions): AsyncIterable<WatchEvent<T>>;
}

/** Managed fields make up half of many objects, and no page shows them. */
const acceptObjects = 'application/json;managedFields=none,application/json';
const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const acceptTable = `${table};managedFields=none,${table}`;

const listPath = (kind: ApiKind, options: ClientListOptions) =>
  collectionPath(kind, options.namespace) + listQuery(options);

const watchPath = (kind: ApiKind, options: ClientWatchOptions) =>
  collectionPath(kind, options.namespace) +
  query({
    watch: 1,
    allowWatchBookmarks: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds,
  });

/** Without HTTP/2, which needs https, a browser has too few connections for all watches of a page. */
const follow = location.protocol === 'http:' ? watchSocket : watchLines;

const watchOf = <T extends KubeObject>(kind: ApiKind, accept: string, options: FollowOptions) =>
  follow<T>({ path: watchPath(kind, options), accept, signal: options.signal, onOpen: options.onOpen });

const initOf = (accept: string, { signal }: ClientListOptions): RequestInit => ({
  headers: { accept },
  ...(signal && { signal }),
});

/**
 * Lists and watches whole objects, or only their metadata, such as of Secrets. Fills in apiVersion and kind,
 * which lists omit.
 */
export function objectsOf<T extends KubeObject>(kind: ApiKind, isMetadataOnly: boolean): Followed<T> {
  return {
    async list(options = {}) {
      const accept = isMetadataOnly ? metadataList : acceptObjects;
      const { objects, envelope } = await requestList<T, T>({
        path: listPath(kind, options),
        init: initOf(accept, options),
        member: 'items',
        read: (object) => complete(kind, object),
        onPart: options.onPart,
      });
      return { apiVersion: 'v1', kind: 'List', metadata: envelope.metadata, items: objects };
    },
    async *watch(options) {
      const accept = isMetadataOnly ? metadata : acceptObjects;
      for await (const event of watchOf<T>(kind, accept, options)) {
        complete(kind, event.object);
        yield event;
      }
    },
  };
}

/**
 * Fills in apiVersion and kind, and removes the managed fields, which servers that do not support the
 * parameter of the media type send all the same.
 */
function complete<T extends KubeObject>(kind: ApiKind, object: T): T {
  if (object.kind === '' || object.kind === undefined || object.kind === 'PartialObjectMetadata') {
    object.apiVersion = apiVersionOf(kind);
    object.kind = kind.kind;
  }
  delete object.metadata.managedFields;
  return object;
}

/** Lists and watches the rows of the server's table; `onColumns` gets the columns of each list. */
export function tableRowsOf(
  kind: ApiKind,
  onColumns: (columns: readonly TableColumn[]) => void,
): Followed<TableRow> {
  return {
    async list(options = {}) {
      // The columns arrive before the rows, so the first rows can be shown while the others arrive.
      let known: readonly TableColumn[] | undefined;
      const { objects, envelope } = await requestList<ServedRow, TableRow, Table>({
        path: listPath(kind, options),
        init: initOf(acceptTable, options),
        member: 'rows',
        read: rowOf,
        onHead: ({ columnDefinitions }) => {
          known = columnDefinitions;
          if (known) onColumns(known);
        },
        onPart: options.onPart,
      });
      if (!known) onColumns(envelope.columnDefinitions ?? []);
      return { apiVersion: 'v1', kind: 'List', metadata: envelope.metadata, items: objects };
    },
    async *watch(options) {
      const events = watchOf<KubeObject>(kind, acceptTable, options);
      for await (const event of events) yield* rowEvent(event);
    },
  };
}
