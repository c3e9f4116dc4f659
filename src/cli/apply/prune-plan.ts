/**
 * Choice of the objects that `apply --prune` deletes. An object is deleted only if its kind is pruned, its
 * namespace is that of --namespace or of a manifest, it matches the selector or belongs to the apply set, it
 * was applied before, and it was not applied now. Pure.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { matches, parseLabelSelector } from '../../apimachinery/labels.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { ApiResource, ApiResources } from '../objects/discovery.ts';
import type { CollectionTarget } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';

/**
 * Kinds that are pruned without --prune-allowlist. kubectl 1.32 also prunes Namespaces and PersistentVolumes,
 * and announces that it will stop doing so; here a cluster-scoped kind is pruned only if the allowlist has
 * it.
 */
const usualKinds = [
  'core/v1/ConfigMap',
  'core/v1/Endpoints',
  'core/v1/PersistentVolumeClaim',
  'core/v1/Pod',
  'core/v1/ReplicationController',
  'core/v1/Secret',
  'core/v1/Service',
  'batch/v1/Job',
  'batch/v1/CronJob',
  'networking.k8s.io/v1/Ingress',
  'apps/v1/DaemonSet',
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'apps/v1/StatefulSet',
];

/**
 * Returns the kinds to prune: those of --prune-allowlist, else the usual ones that the server has. Throws
 * UsageError for a word that is no kind of the server.
 */
export function prunedKinds(all: ApiResources, allowlist: readonly string[]): ApiResources {
  if (allowlist.length > 0) return allowlist.map((word) => listedKind(all, word));
  return usualKinds.flatMap((word) => kindOf(all, word) ?? []);
}

function listedKind(all: ApiResources, word: string): ApiResource {
  if (word.split('/').length !== 3)
    throw new UsageError(
      `invalid GroupVersionKind format: ${word}, please follow <group/version/kind>, such as apps/v1/Deployment`,
    );
  const found = kindOf(all, word);
  if (!found)
    throw new UsageError(`--prune-allowlist: the server has no kind ${word}; see minik8s ctl api-resources`);
  return found;
}

function kindOf(all: ApiResources, word: string): ApiResource | undefined {
  const [group, version, kind] = word.split('/');
  const named = group === 'core' ? '' : group;
  return all.find((one) => one.group === named && one.version === version && one.kind === kind);
}

/** Returns the collections to read: each kind in each namespace, and kinds without namespace once. */
export function collectionsToPrune(
  kinds: ApiResources,
  namespaces: Iterable<string>,
  labelSelector: string | undefined,
): CollectionTarget[] {
  const places = [...new Set(namespaces)].filter((namespace) => namespace !== '').sort();
  const collection = (resource: ApiResource, namespace: string): CollectionTarget => ({
    resource,
    namespace,
    labelSelector,
    fieldSelector: undefined,
  });
  return [
    ...places.flatMap((namespace) =>
      kinds.filter(({ namespaced }) => namespaced).map((kind) => collection(kind, namespace)),
    ),
    ...kinds.filter(({ namespaced }) => !namespaced).map((kind) => collection(kind, '')),
  ];
}

export interface PruneRule {
  /** Selector of the labels; undefined for all objects that were applied. */
  readonly labelSelector: string | undefined;
  /** UIDs of the objects that this command applied. */
  readonly applied: ReadonlySet<string>;
  /** True if an object must have the annotation of an earlier apply; false for members of an apply set. */
  readonly needsAnnotation: boolean;
}

/**
 * Returns the objects of a collection to delete. The server's selection is checked again: an object of
 * another namespace or without the labels is kept, and so is one without a UID.
 */
export function prunedObjects(
  { namespace }: CollectionTarget,
  objects: readonly JsonObject[],
  { labelSelector, applied, needsAnnotation }: PruneRule,
): JsonObject[] {
  const selector = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector);
  return objects.filter((object) => {
    const metadata = metadataOf(object);
    if (metadata.uid === '' || metadata.name === '' || applied.has(metadata.uid)) return false;
    if (metadata.namespace !== namespace) return false;
    if (selector && !matches(selector, metadata.labels)) return false;
    return !needsAnnotation || metadata.annotations[lastAppliedAnnotation] !== undefined;
  });
}
