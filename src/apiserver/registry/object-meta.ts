/** Metadata rules of all kinds (k8s.io/apiserver registry/rest create.go, update.go). */
import { type KubeObject, keepMeta, type ObjectMeta } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newConflict, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';

export interface Target {
  readonly namespace: string;
  /** '' when the URL addresses the collection. */
  readonly name: string;
}

/**
 * Fills in the namespace, clears the namespace of a cluster-scoped object, and throws 400 if namespace or
 * name differ from the URL's (k8s.io/apiserver: EnsureObjectNamespaceMatchesRequestNamespace).
 */
export function matchTarget(object: KubeObject, definition: ResourceDefinition, target: Target): void {
  const meta = object.metadata;
  if (!definition.namespaced) {
    delete meta.namespace;
  } else if (meta.namespace && meta.namespace !== target.namespace) {
    throw newBadRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  } else {
    meta.namespace = target.namespace;
  }
  if (!target.name) return;
  if (meta.name && meta.name !== target.name) {
    throw newBadRequest(
      `the name of the object (${meta.name}) does not match the name on the URL (${target.name})`,
    );
  }
  meta.name = target.name;
}

/** Sets the fields that only the server may set when an object is created. `name` is final. */
export function initializeMeta(
  meta: ObjectMeta,
  values: { uid: string; now: string; generation: boolean },
): void {
  delete (meta as { selfLink?: unknown }).selfLink;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.generation;
  meta.uid = values.uid;
  meta.creationTimestamp = values.now;
  meta.resourceVersion = '';
  if (values.generation) meta.generation = 1;
}

/**
 * Restores the fields that an update must not change, for any content of the body; fills in an absent uid and
 * resourceVersion.
 */
export function carryMeta(object: KubeObject, old: KubeObject): void {
  const meta = object.metadata;
  const before = old.metadata;
  delete (meta as { selfLink?: unknown }).selfLink;
  meta.uid = before.uid;
  meta.creationTimestamp = before.creationTimestamp;
  meta.resourceVersion = before.resourceVersion;
  keepMeta(meta, before, 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generateName');
}

export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

const stale = 'the object has been modified; please apply your changes to the latest version and try again';

/**
 * Throws 409 unless uid and resourceVersion are those of the current object; an empty string never matches.
 */
export function checkPreconditions(
  definition: ResourceDefinition,
  current: KubeObject,
  { uid, resourceVersion }: Preconditions,
  versionMismatch: string = stale,
): void {
  const { metadata } = current;
  if (uid !== undefined && uid !== metadata.uid) {
    throw newConflict(
      definition,
      metadata.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw newConflict(definition, metadata.name, versionMismatch);
  }
}

/**
 * Returns the preconditions in an update's own metadata: an empty uid, and an empty resourceVersion or "0",
 * are no precondition.
 */
export function conditionsOf({ uid, resourceVersion }: Preconditions): Preconditions {
  return {
    ...(uid && { uid }),
    ...(resourceVersion && resourceVersion !== '0' && { resourceVersion }),
  };
}

/**
 * Prepares an update that creates its object. Throws 409 if the update has a uid, which belonged to another
 * object; its resourceVersion is ignored.
 */
export function checkAbsent({ group, plural }: ResourceDefinition, { metadata }: KubeObject): void {
  if (metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: `;
    throw newConflict({ group, plural }, metadata.name, why);
  }
  metadata.resourceVersion = '';
}

/** Throws 422 for an update without a resourceVersion, if the kind requires one. */
export function requireVersion(definition: ResourceDefinition, { metadata }: KubeObject): void {
  const { resourceVersion } = metadata;
  if (!definition.strategy.updatesNameVersion || (resourceVersion && resourceVersion !== '0')) return;
  const message = 'Invalid value: 0x0: must be specified for an update';
  const cause = { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message } as const;
  // The plural stands in the place of the kind, as it does upstream.
  throw newInvalid({ group: definition.group, kind: definition.plural }, metadata.name, [cause]);
}

/** Returns a cause if finalizers were added to an object that is being deleted; they may only be removed. */
export function validateFinalizersOfDeleted(object: KubeObject, old: KubeObject): StatusCause[] {
  if (!old.metadata.deletionTimestamp) return [];
  const before = new Set(old.metadata.finalizers);
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return [
    {
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers [${list}]`,
    },
  ];
}
