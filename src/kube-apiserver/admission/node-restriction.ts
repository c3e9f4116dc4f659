/**
 * Restricts the bodies of a kubelet's writes (like upstream's plugin NodeRestriction, but more restrictive);
 * the authorizer decides which objects the kubelet may address. No rule here relies on anything that the node
 * can write itself (docs/decisions/0020-what-nodes-may-say.md).
 */

import type { TokenRequest } from '../../api/authentication/v1/token-request.ts';
import { podCertificateRequestResource } from '../../api/certificates/v1/pod-certificate-request.ts';
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { eventResource } from '../../api/core/v1/event/event.ts';
import { nodeHostnames } from '../../api/core/v1/node/addresses.ts';
import { podCIDR6Annotation, podCIDRAnnotation } from '../../api/core/v1/node/annotations.ts';
import { hostnameLabel, mayLabelItself } from '../../api/core/v1/node/labels.ts';
import { type Node, nodeResource, type Taint } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { poolLeaseNamespace } from '../../api/core/v1/service/pool-lease.ts';
import { serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { choreOf, emptiedReason, removedReason, stuckReason } from '../../api/core/v1/volume/chores.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newNotFound } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { nodeNameOf } from '../../apiserver/request/user.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { type NodeAccess, type NodeRestriction, notAllowed } from '../authorization/node-access.ts';
import type { KubeContext } from '../context.ts';
import { restrictCertificate } from './certificate-restriction.ts';
import { restrictMirror } from './mirror-restriction.ts';
import { restrictEvent } from './node-events.ts';

/** Returns why the request is rejected; undefined if it is allowed. */
type Restriction = (
  server: NodeRestrictionParts,
  node: string,
  admission: Admission,
) => string | undefined | Promise<string | undefined>;

const kindOf = ({ group, plural }: Pick<ResourceRef, 'group' | 'plural'>) => `${group}/${plural}`;

const restrictions = new Map<string, Restriction>([
  [kindOf(nodeResource), restrictNode],
  [kindOf(leaseResource), restrictLease],
  [kindOf(eventResource), restrictEvent],
  [kindOf(serviceAccountResource), restrictToken],
  [kindOf(persistentVolumeResource), restrictVolume],
]);

/** Parts of the server that the decisions read. */
export type NodeRestrictionParts = Pick<
  KubeContext,
  'authorize' | 'cache' | 'clock' | 'latest' | 'mayRegister' | 'podRangeProblem' | 'store'
>;

/** Restricts nodes. `features` is the access of nodes to objects of other kinds than Kubernetes' own. */
export function nodeRestriction(
  server: NodeRestrictionParts,
  features: readonly NodeAccess[],
): AdmissionPlugin {
  const reservedImage = (image: string) => firstOf(features, (feature) => feature.reservedImage?.(image));
  const ofKubernetes = Array.from(
    restrictions,
    ([kind, check]) => [kind, { check: (...write) => check(server, ...write) }] as [string, NodeRestriction],
  );
  const byKind = new Map<string, NodeRestriction>([
    ...ofKubernetes,
    [
      kindOf(podResource),
      { checksOwners: true, check: (...write) => restrictPod(server, reservedImage, ...write) },
    ],
    [
      kindOf(podCertificateRequestResource),
      { checksOwners: true, check: (...write) => restrictCertificate(server, ...write) },
    ],
    ...features.flatMap((feature) => Object.entries(feature.restrictions ?? {})),
  ]);
  return {
    name: 'NodeRestriction',
    mutate({ definition, object, old, user }) {
      if (object && nodeNameOf(user) !== undefined && kindOf(definition) === kindOf(nodeResource))
        keepPhase(object as Node, old as Node | undefined);
    },
    async validate(admission) {
      const { definition, name, user } = admission;
      const node = nodeNameOf(user);
      if (node === undefined) return;
      const restriction = byKind.get(kindOf(definition));
      const why =
        tooLarge(definition, admission.object) ??
        changedMetadata(node, admission, restriction?.checksOwners ?? false) ??
        (await restriction?.check(node, admission));
      if (why) throw newForbidden(definition, name, why);
    },
  };
}

function firstOf<T, U>(list: readonly T[], find: (one: T) => U | undefined): U | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Maximum size of the JSON in bytes. A Lease has a few hundred bytes. A Node, with the fifty images that it
 * reports, has about twenty thousand.
 */
const maxBytes = new Map([
  [kindOf(leaseResource), 4 * 1024],
  [kindOf(nodeResource), 256 * 1024],
]);

/**
 * Limits the size of a write. The store keeps every version for minutes, and its total size is limited, so a
 * node may use no more of it than it needs.
 */
function tooLarge(definition: ResourceRef, object: KubeObject | undefined): string | undefined {
  const most = maxBytes.get(kindOf(definition));
  const found = most !== undefined && object ? Buffer.byteLength(JSON.stringify(object)) : 0;
  if (most === undefined || found <= most) return undefined;
  return `it has ${found} bytes; a ${definition.kind} that a node writes may have at most ${most}`;
}

/** Compares two lists. An absent list equals an empty one. */
const same = (a: object | undefined, b: object | undefined) => deepEqual(a ?? [], b ?? []);

/** Rejects changes of finalizers and owners, except that the Lease of a node may be owned by its Node. */
function changedMetadata(
  node: string,
  { definition, object, old }: Admission,
  checksOwners: boolean,
): string | undefined {
  if (!object) return undefined;
  const [next, before] = [object.metadata, old?.metadata];
  if (!same(next.finalizers, before?.finalizers)) return notAllowed(node, 'finalizers');
  const isLease = kindOf(definition) === kindOf(leaseResource);
  const isGiven = checksOwners && !old;
  if (isLease || isGiven || same(next.ownerReferences, before?.ownerReferences)) return undefined;
  return notAllowed(node, 'ownerReferences');
}

function otherName(node: string, operation: Admission['operation'], name: string): string | undefined {
  return operation === 'create' && name !== node
    ? `node ${JSON.stringify(node)} is not allowed to create it`
    : undefined;
}

function restrictLease(
  _server: NodeRestrictionParts,
  node: string,
  admission: Admission,
): string | undefined {
  const { operation, name, namespace, object } = admission;
  if (namespace === poolLeaseNamespace) return restrictPoolLease(node, admission);
  const owners = (object as Lease | undefined)?.metadata.ownerReferences ?? [];
  const foreign = owners.some(
    (owner) => owner.apiVersion !== 'v1' || owner.kind !== nodeResource.kind || owner.name !== node,
  );
  return otherName(node, operation, name) ?? (foreign ? notAllowed(node, 'ownerReferences') : undefined);
}

/** A node may hold, renew and release the Lease of an address; the controller decides on its Service. */
function restrictPoolLease(node: string, { object, old }: Admission): string | undefined {
  const [next, before] = [object as Lease | undefined, old as Lease | undefined];
  if (!next || !before) return `node ${JSON.stringify(node)} is not allowed to create or delete it`;
  const isSame = (['labels', 'annotations', 'ownerReferences'] as const).every((part) =>
    deepEqual(next.metadata[part] ?? {}, before.metadata[part] ?? {}),
  );
  if (!isSame) return notAllowed(node, 'its metadata');
  const [holder, previous] = [next.spec.holderIdentity || undefined, before.spec.holderIdentity || undefined];
  if (holder === node || (holder === undefined && previous === node) || holder === previous) return undefined;
  return notAllowed(node, `its holder to ${holder ?? 'nobody'}`);
}

async function restrictNode(
  server: NodeRestrictionParts,
  node: string,
  { operation, name, object, old }: Admission,
): Promise<string | undefined> {
  const [next, before] = [object as Node | undefined, old as Node | undefined];
  if (!next) return undefined;
  const foreign = otherName(node, operation, name);
  if (foreign) return foreign;
  if (operation === 'create' && !server.mayRegister(node) && !(await isThere(server, name))) {
    return `nodes need the approval of an administrator here: run minik8s ctl add node ${node}`;
  }
  const what = changedByItself(next, before);
  if (what !== undefined) return notAllowed(node, what);
  const foreignName = await nameOfAnother(server, node, next);
  if (foreignName !== undefined)
    return notAllowed(node, `its addresses to ${foreignName}, the name of another node`);
  return claimsRange(next, before) ? server.podRangeProblem(next, otherNodes(server, name)) : undefined;
}

/** Returns the name of another Node that this node claims among its own host names. */
async function nameOfAnother(
  server: NodeRestrictionParts,
  node: string,
  { status }: Node,
): Promise<string | undefined> {
  for (const name of new Set(nodeHostnames(status?.addresses ?? []))) {
    if (name !== node && (await findObject(server, nodeResource, '', name))) return name;
  }
  return undefined;
}

/** Returns the first protected part of the Node that this write would change. */
function changedByItself(next: Node, before: Node | undefined): string | undefined {
  const label = changedLabels(next, before).find((key) => !mayLabelItself(key));
  if (label !== undefined) return `the label ${label}`;
  const hostname = next.metadata.labels?.[hostnameLabel];
  if (
    hostname !== undefined &&
    hostname !== next.metadata.name &&
    hostname !== before?.metadata.labels?.[hostnameLabel]
  )
    return `the label ${hostnameLabel} to anything but its name`;
  const range = [podCIDRAnnotation, podCIDR6Annotation].find((name) => isForeignRange(name, next, before));
  if (range !== undefined) return `the annotation ${range} to anything but its podCIDR`;
  if (!before) return undefined;
  // A Node with nodeInfo counts as registered, so nodeInfo must not be removed.
  if (before.status?.nodeInfo && !next.status?.nodeInfo) return 'status.nodeInfo to nothing';
  if (!mayTaint(next, before)) return 'taints';
  return same(unclaimed(next), unclaimed(before)) ? undefined : 'its specification';
}

/** Returns true for a changed annotation with a range that is not the node's own. */
function isForeignRange(name: string, next: Node, before: Node | undefined): boolean {
  const range = next.metadata.annotations?.[name];
  const own =
    name === podCIDRAnnotation ? next.spec.podCIDR : rangesOf(next).find((one) => one.includes(':'));
  return range !== undefined && range !== own && range !== before?.metadata.annotations?.[name];
}

/**
 * Returns whether the taints are allowed. A node may add its configured taints to a Node that was created for
 * it; it may never remove one.
 */
function mayTaint({ spec }: Node, before: Node): boolean {
  const [next, old] = [spec.taints ?? [], before.spec.taints ?? []];
  if (before.status?.nodeInfo) return same(next, old);
  const isThere = (taint: Taint) => next.some((one) => deepEqual(one, taint));
  return old.every(isThere);
}

/**
 * Returns whether the node sets its own pod range. It may set the first one; validation prevents later
 * changes.
 */
const claimsRange = (next: Node, before: Node | undefined) =>
  !same(rangesOf(next), before && rangesOf(before));
const rangesOf = ({ spec: { podCIDR, podCIDRs } }: Node) => podCIDRs ?? (podCIDR ? [podCIDR] : []);

const otherNodes = ({ cache }: NodeRestrictionParts, name: string) =>
  cache
    .list(storagePrefix(nodeResource))
    .map(({ object }) => object as Node)
    .filter(({ metadata }) => metadata.name !== name);

/**
 * Reads the store: a Node that was deleted a moment ago must not be created again because the cache is
 * behind.
 */
const isThere = async ({ store }: NodeRestrictionParts, name: string) =>
  (await store.get(storageKey(nodeResource, '', name))) !== undefined;

/**
 * Restores the phase, which records whether the machine was approved. A status computed from an older Node
 * may have the old phase.
 */
function keepPhase(next: Node, before: Node | undefined): void {
  const phase = before?.status?.phase;
  if (phase !== undefined) next.status = { ...next.status, phase };
  else if (next.status) delete next.status.phase;
}

function changedLabels({ metadata }: KubeObject, before: KubeObject | undefined): string[] {
  const [labels, old] = [metadata.labels ?? {}, before?.metadata.labels ?? {}];
  return Object.keys({ ...labels, ...old }).filter((key) => labels[key] !== old[key]);
}

function unclaimed({ spec: { podCIDR: _, podCIDRs: __, taints: ___, ...rest } }: Node) {
  return rest;
}

/**
 * Checks that the written or deleted pod is bound to the node: the pod that was authorized may have been
 * deleted since, and another one may have its name.
 */
async function restrictPod(
  server: NodeRestrictionParts,
  reservedImage: (image: string) => string | undefined,
  node: string,
  { subresource, object, old }: Admission,
): Promise<string | undefined> {
  // `object` is a pod only if there is no subresource: it may also be an Eviction or a TokenRequest.
  if (!old)
    return subresource === '' && object
      ? restrictMirror(server, node, object as Pod, reservedImage)
      : undefined;
  if ((old as Pod).spec.nodeName !== node)
    return `node ${JSON.stringify(node)} may only change pods that are bound to it`;
  if (subresource !== 'status' || !object) return undefined;
  const changed = (['labels', 'annotations'] as const).find(
    (field) => !deepEqual(object.metadata[field] ?? {}, old.metadata[field] ?? {}),
  );
  return changed && `node ${JSON.stringify(node)} cannot update ${changed} through pod status`;
}

/** Restricts the status of a volume that the node must remove or clean up: only its result may be written. */
function restrictVolume(
  _server: NodeRestrictionParts,
  node: string,
  { object, old }: Admission,
): string | undefined {
  const [next, before] = [object as PersistentVolume | undefined, old as PersistentVolume | undefined];
  const chore = before && choreOf(before, node);
  if (!next || !before || !chore)
    return notAllowed(node, 'a volume that it has neither to remove nor to empty');
  const isSame =
    same(next.spec, before.spec) &&
    same(next.metadata.labels, before.metadata.labels) &&
    same(next.metadata.annotations, before.metadata.annotations);
  if (!isSame) return notAllowed(node, 'anything but the status of a volume');
  const phase = next.status?.phase ?? '';
  if (!['Released', 'Failed', before.status?.phase].includes(phase))
    return notAllowed(node, `the phase of a volume to ${phase}`);
  const reason = next.status?.reason ?? '';
  const done = chore === 'remove' ? removedReason : emptiedReason;
  return ['', stuckReason, done, before.status?.reason].includes(reason)
    ? undefined
    : notAllowed(node, `the reason of a volume to ${reason}`);
}

/**
 * Restricts tokens: a node may only request tokens that are bound to a pod it runs, and that become invalid
 * with the pod.
 */
async function restrictToken(
  server: NodeRestrictionParts,
  node: string,
  { subresource, namespace, object }: Admission,
): Promise<string | undefined> {
  if (subresource !== 'token') return undefined;
  const { boundObjectRef: ref } = (object as TokenRequest).spec;
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name)
    return 'node requested token not bound to a pod';
  if (!ref.uid) return 'node requested token with a pod binding without a uid';
  const pod = await findObject(server, podResource, namespace, ref.name);
  if (!pod) throw newNotFound(podResource, ref.name);
  if (pod.metadata.uid !== ref.uid)
    return `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (pod.spec.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  return undefined;
}
