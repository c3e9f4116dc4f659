/** Columns and cell texts that several kinds print (upstream: pkg/printers/internalversion/printers.go). */
import { ageSince } from '../apimachinery/age.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { Column } from '../apimachinery/resource-definition.ts';

export const none = '<none>';
export const unknown = '<unknown>';

/** The column that `kubectl get` needs to find an object's name. */
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

/** For kinds that upstream has no printer for. */
export const createdAtColumn: Column<KubeObject> = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was created.',
  cell: (object) => object.metadata.creationTimestamp,
};

/** `a=1,b=2` with sorted keys, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length > 0 ? pairs.sort().join(',') : none;
}

/** The first `max` items and how many more there are: `a,b,c + 2 more...`; `empty` when there is none. */
export function listWithMore(items: readonly string[], max: number, empty: string): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, max).join(',');
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}
