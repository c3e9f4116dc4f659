/** One watch for each kind and scope, however many components show its objects. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { InformerScope } from '../../../client/informer.ts';
import { type Collection, liveCollection } from './live-collection.ts';
import type { ApiKind } from './plan/discovery.ts';
import type { TableColumn, TableRow } from './plan/table-rows.ts';
import { objectsOf, tableRowsOf } from './resources.ts';

export interface LiveTable {
  readonly columns: ReadonlySignal<readonly TableColumn[]>;
  readonly rows: ReadonlySignal<Collection<TableRow>>;
}

export interface WatchScope {
  /** Absent or empty for all namespaces. */
  readonly namespace?: string;
  /** A selector of labels, such as `app=web`. */
  readonly labels?: string;
  /** A selector of fields, such as `spec.nodeName=vm2`. */
  readonly fields?: string;
}

export interface WatchOptions extends WatchScope {
  /** Reads no more than the metadata, as for Secrets. */
  readonly metadataOnly?: boolean;
}

const objects = new Map<string, ReadonlySignal<Collection<KubeObject>>>();
const tables = new Map<string, LiveTable>();

const identity = (kind: ApiKind, scope: WatchScope) =>
  JSON.stringify([kind.key, kind.version, scope.namespace ?? '', scope.labels ?? '', scope.fields ?? '']);

const scopeOf = ({ namespace, labels, fields }: WatchScope): InformerScope => ({
  ...(namespace && { namespace }),
  ...(labels && { labelSelector: labels }),
  ...(fields && { fieldSelector: fields }),
});

/**
 * Returns the live objects of a kind. The watch begins with the first subscriber of the signal and ends after
 * the last one: read `.value` in a component, never call this in a loop that nothing renders.
 */
export function watchAll<T extends KubeObject = KubeObject>(
  kind: ApiKind,
  { metadataOnly = false, ...scope }: WatchOptions = {},
): ReadonlySignal<Collection<T>> {
  const id = identity(kind, scope) + (metadataOnly ? ' metadata' : '');
  let found = objects.get(id);
  if (!found) {
    found = liveCollection(objectsOf(kind, metadataOnly), scopeOf(scope), () => objects.delete(id));
    objects.set(id, found);
  }
  return found as ReadonlySignal<Collection<T>>;
}

/** Returns the live rows of a kind with the columns of the server. */
export function watchTable(kind: ApiKind, scope: WatchScope = {}): LiveTable {
  const id = identity(kind, scope);
  const found = tables.get(id);
  if (found) return found;
  const columns: Signal<readonly TableColumn[]> = signal([]);
  const resource = tableRowsOf(kind, (definitions) => {
    columns.value = definitions;
  });
  const made = { columns, rows: liveCollection(resource, scopeOf(scope), () => tables.delete(id)) };
  tables.set(id, made);
  return made;
}
