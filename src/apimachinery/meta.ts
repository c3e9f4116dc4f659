/**
 * The parts that every Kubernetes object shares (k8s.io/apimachinery meta/v1). Times are RFC 3339 strings.
 */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

export interface ObjectMeta {
  name: string;
  generateName?: string | undefined;
  /** Absent on cluster-scoped objects. */
  namespace?: string | undefined;
  uid: string;
  /** The store's revision as a decimal string; never written into the store itself. */
  resourceVersion: string;
  generation?: number | undefined;
  creationTimestamp: string;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  ownerReferences?: OwnerReference[] | undefined;
  finalizers?: string[] | undefined;
  managedFields?: unknown[] | undefined;
}

/** Restores the given fields to their values before a write. Mutates `meta`. */
export function keepMeta(
  meta: ObjectMeta,
  before: ObjectMeta,
  ...fields: readonly Exclude<keyof ObjectMeta, 'name' | 'uid' | 'resourceVersion' | 'creationTimestamp'>[]
): void {
  for (const field of fields) {
    if (before[field] === undefined) delete meta[field];
    else Object.assign(meta, { [field]: before[field] });
  }
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object as a client submits it: the server fills in uid, resourceVersion and creationTimestamp. */
export type Draft<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & {
  metadata: Partial<ObjectMeta>;
  status?: T extends { status?: infer S } ? S : never;
};

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion: string;
  kind: string;
  metadata: ListMeta;
  items: T[];
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of informers and work queues. */
export type ObjectKey = string;

export function objectKey(object: { metadata: { namespace?: string | undefined; name: string } }): ObjectKey {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

export function splitKey(key: ObjectKey): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Returns the owner that manages this object (at most one has `controller: true`). */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/**
 * Returns true if the object is being deleted. The object stays until its finalizers are removed, or its node
 * agent has stopped it.
 */
export const isTerminating = (object: { metadata: { deletionTimestamp?: string | undefined } }) =>
  object.metadata.deletionTimestamp !== undefined;

export const isOwnedBy = (object: { metadata: Pick<ObjectMeta, 'ownerReferences'> }, owner: KubeObject) =>
  object.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
