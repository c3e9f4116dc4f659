/** Columns and cell texts that several kinds print (upstream: pkg/printers/internalversion/printers.go). */
import { ageSince } from '../apimachinery/age.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { Column } from '../apimachinery/resource-definition.ts';

export const none = '<none>';
export const unknown = '<unknown>';

/** The column in which `kubectl get` finds an object's name. */
export const nameColumn: Column<KubeObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Unique within the namespace, or within the cluster for kinds without one.',
  cell: (object) => object.metadata.name,
};

export const ageColumn: Column<KubeObject> = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  cell: (object, now) => ageSince(object.metadata.creationTimestamp, now),
};

/** Column for kinds that have no printer upstream. */
export const createdAtColumn: Column<KubeObject> = {
  name: 'Created At',
  type: 'date',
  description: 'The creation time of the object.',
  cell: (object) => object.metadata.creationTimestamp,
};

/** Returns `a=1,b=2` with sorted keys, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length > 0 ? pairs.sort().join(',') : none;
}

/**
 * Returns the first `max` items and the number of further ones: `a,b,c + 2 more...`; `empty` when there is
 * none.
 */
export function listWithMore(items: readonly string[], max: number, empty: string): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, max).join(',');
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}
