/**
 * Authorizes a kubelet (`system:node:NAME` in system:nodes): it may read what its pods need and the routes to
 * all others, and write its own Node, its own Lease, the status of pods bound to it, and events. Like
 * upstream's node authorizer it allows reading a Secret or ConfigMap, and a token of an account, only while a
 * pod that needs it is bound to the node. Admission restricts the bodies (admission/node-restriction.ts);
 * certificates are in node-bootstrapper.ts.
 *
 * A certificate outlives the Node it was issued for: the machine may have been removed. So the kubelet may
 * read other objects only while its Node exists and is not Pending; without a Node it can register, wait for
 * approval, and end the pods it has. Two Services are always readable: with them a machine detects, before it
 * registers, that it was set up for another cluster.
 */

import { podCertificateRequestResource } from '../../api/certificates/v1/pod-certificate-request.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { mirrorAnnotation } from '../../api/core/v1/pod/annotations.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { podReferences } from '../../api/core/v1/pod/references.ts';
import {
  isPoolLeaseName,
  poolAddressLabel,
  poolLeaseNamespace,
} from '../../api/core/v1/service/pool-lease.ts';
import { apiService, dnsService } from '../../api/core/v1/system-objects.ts';
import { isLookedAfterBy, volumesOfNode } from '../../api/core/v1/volume/chores.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Authorizer, Verb } from '../../apiserver/authorization/authorizer.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import { nodeNameOf } from '../../apiserver/request/user.ts';
import type { EngineContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { CacheIndex, IndexDeclaration } from '../../storage/cache.ts';
import {
  always,
  isNeededHere,
  isOfItsName,
  type NodeAccess,
  type NodeQuestions,
  type NodeRule,
  type PodNeed,
  type ResourceAccess,
} from './node-access.ts';

interface Reader extends EngineContext, NodeQuestions {
  readonly needs: CacheIndex;
}

type Condition = (request: ResourceAccess, node: string, server: Reader) => boolean | Promise<boolean>;

interface Rule extends Omit<NodeRule, 'when'> {
  readonly when: Condition;
}

/** Tokens of service accounts; admission checks which pod a token is for. */
const tokens = 'serviceaccounts/token';
const accounts = 'serviceaccounts';
const certificates = podCertificateRequestResource.plural;

const read: readonly Verb[] = ['get', 'list', 'watch'];

const isClusterService: Condition = ({ namespace, name }) =>
  [apiService, dnsService].some((own) => own.namespace === namespace && own.name === name);
const hasItsName: Condition = ({ name }, node) => name === node;
const isOwnLease: Condition = ({ namespace, name, verb }, node) =>
  namespace === 'kube-node-lease' && (name === node || (verb === 'create' && name === ''));
/** Nodes agree on which of them answers for an address of the pool by its Lease. */
const isPoolLease: Condition = ({ namespace, name }) =>
  namespace === poolLeaseNamespace && isPoolLeaseName(name);
const arePoolLeases: Condition = ({ namespace, labelSelector }) =>
  namespace === poolLeaseNamespace && labelSelector === poolAddressLabel;
const areOwnVolumes: Condition = ({ labelSelector }, node) => labelSelector === volumesOfNode(node);

const rules: readonly Rule[] = [
  { group: '', resources: ['pods'], verbs: ['list', 'watch'], when: isOfItsName },
  { group: '', resources: ['pods'], verbs: ['get', 'delete'], when: isBound },
  { group: '', resources: ['pods/status'], verbs: ['update', 'patch'], when: isBound },
  { group: '', resources: ['pods/eviction'], verbs: ['create'], when: isBound },
  { group: '', resources: ['nodes'], verbs: ['create'], when: always },
  { group: '', resources: ['nodes'], verbs: read, when: hasItsName },
  { group: '', resources: ['nodes', 'nodes/status'], verbs: ['update', 'patch'], when: hasItsName },
  { group: '', resources: ['events'], verbs: ['create', 'update', 'patch'], when: always },
  { group: '', resources: ['services'], verbs: ['get'], when: isClusterService },
];

/** These rules apply while the Node exists and is not Pending. */
const memberRules: readonly Rule[] = [
  { group: '', resources: ['services', 'nodes', 'namespaces'], verbs: read, when: always },
  // Network policies and what they select. A node reads of pods of other nodes only labels, addresses and
  // ports (node-reads.ts).
  {
    group: 'networking.k8s.io',
    resources: ['networkpolicies', 'servicecidrs'],
    verbs: ['list', 'watch'],
    when: always,
  },
  { group: '', resources: ['pods'], verbs: ['list', 'watch'], when: always },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: read, when: always },
  { group: 'node.k8s.io', resources: ['runtimeclasses'], verbs: read, when: always },
  { group: 'certificates.k8s.io', resources: ['clustertrustbundles'], verbs: read, when: always },
  // Admission checks which pods: those that run on the node, with the signers that they name.
  { group: 'certificates.k8s.io', resources: [certificates], verbs: ['create'], when: always },
  { group: 'certificates.k8s.io', resources: [certificates], verbs: ['list', 'watch'], when: isOfItsName },
  { group: 'certificates.k8s.io', resources: [certificates], verbs: ['get'], when: isOwnRequest },
  // Admission checks which pods: mirror pods of the node's own static pods.
  { group: '', resources: ['pods'], verbs: ['create'], when: always },
  // The kubelet's own server authenticates and authorizes its clients.
  { group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'], when: always },
  {
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
    verbs: ['create'],
    when: always,
  },
  // Read by name only: a list or a watch has the name that its field selector requires, or none.
  {
    group: '',
    resources: ['secrets', 'configmaps', 'persistentvolumeclaims'],
    verbs: read,
    when: isNeededHere,
  },
  { group: '', resources: ['persistentvolumes'], verbs: ['get'], when: isVolumeNeeded },
  // The node has to remove or clean up some volumes, and reports the result in their status.
  { group: '', resources: ['persistentvolumes'], verbs: ['list', 'watch'], when: areOwnVolumes },
  { group: '', resources: ['persistentvolumes'], verbs: ['get'], when: isOwnVolume },
  { group: '', resources: ['persistentvolumes/status'], verbs: ['update'], when: isOwnVolume },
  { group: '', resources: [tokens], verbs: ['create'], when: isNeededHere },
  // A node names the uid of the account when it requests a certificate for a pod.
  { group: '', resources: [accounts], verbs: ['get'], when: isNeededHere },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
    when: isOwnLease,
  },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['list', 'watch'], when: arePoolLeases },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'update'], when: isPoolLease },
];

/** Returns the key of a thing that a pod bound to a node needs. */
const neededBy = (node: string, resource: string, namespace: string, name: string) =>
  `${node} ${resource} ${namespace}/${name}`;

/** Index of the pods by what they need, so that a read of a Secret examines no other pod of the namespace. */
const podsByNeed = (features: readonly NodeAccess[]): IndexDeclaration => ({
  name: 'pods by the secrets, configmaps and accounts they need',
  prefix: storagePrefix(podResource),
  keysOf(object) {
    const pod = object as Pod;
    const { nodeName } = pod.spec;
    // A mirror pod needs nothing: the node itself wrote it, with any names.
    if (!nodeName || pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return [];
    const { namespace = '' } = pod.metadata;
    return [...needsOf(pod), ...features.flatMap((feature) => feature.needsOf?.(pod) ?? [])].flatMap(
      ({ resource, names, inCluster }) =>
        Array.from(names, (name) => neededBy(nodeName, resource, inCluster ? '' : namespace, name)),
    );
  },
});

function needsOf(pod: Pod): readonly PodNeed[] {
  const { claims, secrets, configMaps } = podReferences(pod);
  const { serviceAccountName } = pod.spec;
  return [
    { resource: 'secrets', names: secrets },
    { resource: 'configmaps', names: configMaps },
    { resource: 'persistentvolumeclaims', names: claims },
    { resource: tokens, names: serviceAccountName ? [serviceAccountName] : [] },
    { resource: accounts, names: serviceAccountName ? [serviceAccountName] : [] },
  ];
}

/** Authorizes nodes. `features` is the access of nodes to objects of other kinds than Kubernetes' own. */
export function nodeAuthorizer(engine: EngineContext, features: readonly NodeAccess[]): Authorizer {
  const needs = engine.cache.index(podsByNeed(features));
  const server: Reader = {
    ...engine,
    needs,
    isNeeded: (request, node) => isNeeded(server, request, node),
  };
  const forMembers = [...memberRules, ...features.flatMap((feature) => feature.rules)];
  return async (request) => {
    const node = nodeNameOf(request.user);
    if (node === undefined || request.type !== 'resource') return false;
    if (await anyAllows(rules, server, request, node)) return true;
    return (await anyAllows(forMembers, server, request, node)) && isMember(server, node);
  };
}

async function anyAllows(
  table: readonly Rule[],
  server: Reader,
  request: ResourceAccess,
  node: string,
): Promise<boolean> {
  for (const rule of table) {
    const matches =
      rule.group === request.group &&
      rule.resources.includes(request.resource) &&
      rule.verbs.some((verb) => verb === request.verb);
    if (matches && (await rule.when(request, node, server))) return true;
  }
  return false;
}

async function isMember(server: Reader, name: string): Promise<boolean> {
  const node = await findObject(server, nodeResource, '', name);
  return node !== undefined && node.status?.phase !== 'Pending';
}

/**
 * Returns whether the pod is bound to the node. A deleted pod is authorized, because the answer 404 is more
 * informative than 403.
 */
async function isBound({ namespace, name }: ResourceAccess, node: string, server: Reader): Promise<boolean> {
  // An access review may omit the name, which then means every pod.
  if (name === '') return false;
  const pod = await findObject(server, podResource, namespace, name);
  return pod === undefined || pod.spec.nodeName === node;
}

/**
 * Returns whether a pod of the node needs the object. Another master may have bound the pod a moment ago, so
 * the cache catches up before access is denied.
 */
async function isNeeded(
  server: Reader,
  { resource, namespace, name }: ResourceAccess,
  node: string,
): Promise<boolean> {
  const need = neededBy(node, resource, namespace, name);
  if (server.needs.has(need)) return true;
  await waitForNow(server, new AbortController());
  return server.needs.has(need);
}

async function isOwnRequest(
  { namespace, name }: ResourceAccess,
  node: string,
  server: Reader,
): Promise<boolean> {
  if (name === '') return false;
  const request = await findObject(server, podCertificateRequestResource, namespace, name);
  return request?.spec.nodeName === node;
}

async function isOwnVolume({ name }: ResourceAccess, node: string, server: Reader): Promise<boolean> {
  const volume = name === '' ? undefined : await findObject(server, persistentVolumeResource, '', name);
  return volume !== undefined && isLookedAfterBy(volume, node);
}

/** Returns whether a pod of the node needs the claim that the volume is bound to. */
async function isVolumeNeeded(request: ResourceAccess, node: string, server: Reader): Promise<boolean> {
  if (request.name === '') return false;
  const volume = await findObject(server, persistentVolumeResource, '', request.name);
  const { namespace = '', name = '' } = volume?.spec.claimRef ?? {};
  return isNeeded(server, { ...request, resource: 'persistentvolumeclaims', namespace, name }, node);
}
