/** The objects that are measured, and the metadata of their measurements. */
import type { KubeObject, ObjectMeta } from '../../apimachinery/meta.ts';
import { type ResourceDefinition, storageKey } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { selectionOf } from '../../apiserver/reads/selection.ts';
import { rfc3339 } from '../../base/clock.ts';
import type { KubeContext } from '../context.ts';

export type Reader = Pick<KubeContext, 'cache' | 'clock' | 'store'>;

/** Returns the objects of a kind that the query selects, from the watch cache. */
export function selected<T extends KubeObject>(
  { cache }: Reader,
  definition: ResourceDefinition,
  { namespace, name, ...selectors }: MeasureQuery,
): T[] {
  const { matches, prefix } = selectionOf(definition, namespace, selectors);
  const named = name === undefined ? undefined : cache.get(storageKey(definition, namespace, name));
  const candidates = name === undefined ? cache.list(prefix) : named ? [named] : [];
  return candidates.filter(matches).map(({ object }) => object as T);
}

/** Returns the metadata: name and labels of the measured object, and the current time. */
export const headOf = (
  { group, version, kind }: ResourceDefinition,
  { clock }: Reader,
  { name, namespace, labels }: Pick<ObjectMeta, 'name' | 'namespace' | 'labels'>,
) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: {
    name,
    ...(namespace && { namespace }),
    ...(labels && { labels }),
    creationTimestamp: rfc3339(clock.now()),
  },
});
