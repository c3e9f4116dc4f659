/**
 * State of an object after a delete: removed at once, or marked until its finalizers and its grace period
 * have ended. Pure.
 */
import { deepCopy, deepEqual } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../base/clock.ts';

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export interface DeletionOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
}

export type Deletion =
  | { readonly type: 'remove' }
  | { readonly type: 'mark' }
  /** The object is already being deleted, with a grace period that is no longer than requested. */
  | { readonly type: 'keep' };

/** 68 years. A much longer period would give a deletionTimestamp that RFC 3339 cannot express. */
const maxGraceSeconds = 2 ** 31 - 1;

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** Returns the finalizers in the metadata, and those that the kind keeps elsewhere. */
export const pendingFinalizers = (
  { strategy }: ResourceDefinition,
  object: KubeObject,
): readonly string[] => [
  ...(object.metadata.finalizers ?? []),
  ...(strategy.otherFinalizers?.(object) ?? []),
];

/** Returns whether the object is marked as deleted and has neither finalizers nor a grace period left. */
export function isFullyFinalized(definition: ResourceDefinition, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  return (
    !!deletionTimestamp &&
    deletionGracePeriodSeconds === 0 &&
    pendingFinalizers(definition, object).length === 0
  );
}

/** Mutates `object` into its state after the delete; `now` in milliseconds. */
export function markDeleted(
  definition: ResourceDefinition,
  object: KubeObject,
  options: DeletionOptions,
  now: number,
): Deletion {
  const before = deepCopy(object);
  applyPropagation(object, options.propagationPolicy ?? defaultPropagation(definition, object));
  const { deletionTimestamp } = object.metadata;
  if (!deletionTimestamp && waitsForNothing(definition, object)) return { type: 'remove' };
  if (deletionTimestamp) shortenGrace(object, deletionTimestamp, options.gracePeriodSeconds, now);
  else startDeletion(definition, object, options.gracePeriodSeconds, now);
  if (isFullyFinalized(definition, object)) return { type: 'remove' };
  return deepEqual(object, before) ? { type: 'keep' } : { type: 'mark' };
}

/** Returns whether the object can be removed at once, without a mark that no client would see. */
const waitsForNothing = (definition: ResourceDefinition, object: KubeObject) =>
  !definition.strategy.gracePeriodSeconds &&
  !definition.strategy.beginDeletion &&
  pendingFinalizers(definition, object).length === 0;

/** Returns the default policy of the kind, unless an earlier delete has already set a policy. */
function defaultPropagation({ strategy }: ResourceDefinition, { metadata }: KubeObject) {
  const { finalizers = [] } = metadata;
  const decided = finalizers.includes(orphanFinalizer) || finalizers.includes(foregroundFinalizer);
  return strategy.orphansByDefault && !decided ? 'Orphan' : undefined;
}

/**
 * The garbage collector acts on these finalizers (registry/generic/registry
 * deletionFinalizersForGarbageCollection).
 */
function applyPropagation(object: KubeObject, policy: PropagationPolicy | undefined): void {
  if (policy === undefined) return;
  const others = (object.metadata.finalizers ?? []).filter(
    (finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer,
  );
  if (policy === 'Orphan') others.push(orphanFinalizer);
  if (policy === 'Foreground') others.push(foregroundFinalizer);
  if (others.length > 0) object.metadata.finalizers = others;
  else delete object.metadata.finalizers;
}

function startDeletion(
  definition: ResourceDefinition,
  object: KubeObject,
  requested: number | undefined,
  now: number,
): void {
  const { metadata } = object;
  const wanted = definition.strategy.gracePeriodSeconds?.(object, requested) ?? 0;
  const grace = Math.min(Math.max(0, wanted), maxGraceSeconds);
  metadata.deletionTimestamp = rfc3339(now + grace * 1000);
  metadata.deletionGracePeriodSeconds = grace;
  if (metadata.generation) metadata.generation++;
  definition.strategy.beginDeletion?.(object);
}

/** A second delete may only shorten the grace period (registry/rest BeforeDelete). */
function shortenGrace(
  { metadata }: KubeObject,
  due: string,
  requested: number | undefined,
  now: number,
): void {
  const grace = metadata.deletionGracePeriodSeconds ?? 0;
  if (requested === undefined || requested >= grace) return;
  const wanted = Math.max(0, requested);
  const started = Date.parse(due) - grace * 1000;
  metadata.deletionTimestamp = rfc3339(Math.max(now, started + wanted * 1000));
  metadata.deletionGracePeriodSeconds = wanted;
}
