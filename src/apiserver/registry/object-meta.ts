/** Rules for metadata that hold for every kind (k8s.io/apiserver registry/rest create.go, update.go). */
import { type KubeObject, keepMeta, type ObjectMeta } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newConflict, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';

export interface Target {
  readonly namespace: string;
  /** '' when the URL addresses the collection. */
  readonly name: string;
}

/**
 * Fills in the namespace, clears that of a cluster-scoped object, and throws 400 if namespace or name differ from the URL's
 * (k8s.io/apiserver: EnsureObjectNamespaceMatchesRequestNamespace).
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

/** What only the server sets, at the creation of an object. `name` is final. */
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

/** Keeps what an update may not touch, whatever the body says; an absent uid or version is filled in. */
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

/** Throws 409 unless the object is the one, and in the version, that the caller knows; an empty text is never that. */
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

/** What an update says of the object that it was made from: an empty uid, and no version or version 0, say nothing. */
export function conditionsOf({ uid, resourceVersion }: Preconditions): Preconditions {
  return {
    ...(uid && { uid }),
    ...(resourceVersion && resourceVersion !== '0' && { resourceVersion }),
  };
}

/** Before an update makes an object. Throws 409 for one that was another; the version that it had then does not matter. */
export function checkAbsent({ group, plural }: ResourceDefinition, { metadata }: KubeObject): void {
  if (metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: `;
    throw newConflict({ group, plural }, metadata.name, why);
  }
  metadata.resourceVersion = '';
}

/** Throws 422 for an update that does not say which version it was made from, of a kind that asks for it. */
export function requireVersion(definition: ResourceDefinition, { metadata }: KubeObject): void {
  const { resourceVersion } = metadata;
  if (!definition.strategy.updatesNameVersion || (resourceVersion && resourceVersion !== '0')) return;
  const message = 'Invalid value: 0x0: must be specified for an update';
  const cause = { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message } as const;
  // The plural stands in the place of the kind, as upstream has it.
  throw newInvalid({ group: definition.group, kind: definition.plural }, metadata.name, [cause]);
}

/** While an object goes away its finalizers may only be removed. */
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
