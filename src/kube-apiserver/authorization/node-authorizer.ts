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

import { nodeResource } from '../../api/core/v1/node.ts';
import { persistentVolumeResource } from '../../api/core/v1/persistent-volume.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { mirrorAnnotation } from '../../api/core/v1/pod-annotations.ts';
import { podReferences } from '../../api/core/v1/pod-references.ts';
import { apiService, dnsService } from '../../api/core/v1/system-objects.ts';
import { isLookedAfterBy, volumesOfNode } from '../../api/core/v1/volume-chores.ts';
import { folderWatchResource } from '../../api/minik8s/v1/folder-watch.ts';
import { namespaceOfFunctionImage } from '../../api/minik8s/v1/function-image.ts';
import { functionVersionLabel } from '../../api/minik8s/v1/function-instance.ts';
import { functionVersionResource } from '../../api/minik8s/v1/function-version.ts';
import { requiredFieldValue } from '../../apimachinery/field-selector.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { AccessRequest, Authorizer, Verb } from '../../apiserver/authorization/authorizer.ts';
import { waitForNow } from '../../apiserver/freshness.ts';
import type { EngineContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { nodeNameOf } from '../../apiserver/user.ts';
import type { CacheIndex, IndexDeclaration } from '../../storage/cache.ts';

type ResourceAccess = Extract<AccessRequest, { type: 'resource' }>;

type Reader = EngineContext & { readonly needs: CacheIndex };

type Condition =
  | 'always'
  | 'cluster service'
  | 'own name'
  | 'own lease'
  | 'of its name'
  | 'bound pod'
  | 'needed here'
  | 'version needed here'
  | 'volume needed here'
  | 'own volumes'
  | 'own volume'
  | 'own watch';

interface NodeRule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly when: Condition;
}

/** Tokens of service accounts; admission checks which pod a token is for. */
const tokens = 'serviceaccounts/token';
const versions = functionVersionResource.plural;
const watches = folderWatchResource.plural;

const read: readonly Verb[] = ['get', 'list', 'watch'];

const rules: readonly NodeRule[] = [
  { group: '', resources: ['pods'], verbs: ['list', 'watch'], when: 'of its name' },
  { group: '', resources: ['pods'], verbs: ['get', 'delete'], when: 'bound pod' },
  { group: '', resources: ['pods/status'], verbs: ['update', 'patch'], when: 'bound pod' },
  { group: '', resources: ['pods/eviction'], verbs: ['create'], when: 'bound pod' },
  { group: '', resources: ['nodes'], verbs: ['create'], when: 'always' },
  { group: '', resources: ['nodes'], verbs: read, when: 'own name' },
  { group: '', resources: ['nodes', 'nodes/status'], verbs: ['update', 'patch'], when: 'own name' },
  { group: '', resources: ['events'], verbs: ['create', 'update', 'patch'], when: 'always' },
  { group: '', resources: ['services'], verbs: ['get'], when: 'cluster service' },
];

/** These rules apply while the Node exists and is not Pending. */
const memberRules: readonly NodeRule[] = [
  { group: '', resources: ['services', 'nodes', 'namespaces'], verbs: read, when: 'always' },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: read, when: 'always' },
  { group: 'minik8s.io', resources: ['dnses'], verbs: read, when: 'always' },
  { group: 'node.k8s.io', resources: ['runtimeclasses'], verbs: read, when: 'always' },
  // Admission checks which pods: mirror pods of the node's own static pods.
  { group: '', resources: ['pods'], verbs: ['create'], when: 'always' },
  // The kubelet's own server authenticates and authorizes its clients.
  { group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'], when: 'always' },
  {
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
    verbs: ['create'],
    when: 'always',
  },
  // One by one: a list or a watch has the name that its field selector requires, or none.
  {
    group: '',
    resources: ['secrets', 'configmaps', 'persistentvolumeclaims'],
    verbs: read,
    when: 'needed here',
  },
  { group: '', resources: ['persistentvolumes'], verbs: ['get'], when: 'volume needed here' },
  // Some volumes are the node's to remove or to clean up; it reports the result in their status.
  { group: '', resources: ['persistentvolumes'], verbs: ['list', 'watch'], when: 'own volumes' },
  { group: '', resources: ['persistentvolumes'], verbs: ['get'], when: 'own volume' },
  { group: '', resources: ['persistentvolumes/status'], verbs: ['update'], when: 'own volume' },
  { group: '', resources: [tokens], verbs: ['create'], when: 'needed here' },
  // Versions of functions, from which images for pods on this node are built, and the result of the build.
  { group: 'minik8s.io', resources: [versions], verbs: ['get'], when: 'version needed here' },
  { group: 'minik8s.io', resources: [`${versions}/status`], verbs: ['update'], when: 'needed here' },
  // The folders that the node watches, and their changes. Admission checks for which triggers the node may
  // create events.
  { group: 'minik8s.io', resources: [watches], verbs: ['list', 'watch'], when: 'of its name' },
  { group: 'minik8s.io', resources: [`${watches}/status`], verbs: ['patch'], when: 'own watch' },
  { group: 'minik8s.io', resources: ['triggerevents'], verbs: ['create'], when: 'always' },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
    when: 'own lease',
  },
];

/**
 * Returns the key of a thing that a pod bound to a node needs. `resource`: secrets, configmaps, claims, the
 * tokens of accounts or versions of functions.
 */
const neededBy = (node: string, resource: string, namespace: string, name: string) =>
  `${node} ${resource} ${namespace}/${name}`;

/** Index of the pods by what they need, so that a read of a Secret examines no other pod of the namespace. */
const podsByNeed: IndexDeclaration = {
  name: 'pods by the secrets, configmaps and accounts they need',
  prefix: storagePrefix(podResource),
  keysOf(object) {
    const pod = object as Pod;
    const { nodeName } = pod.spec;
    // A mirror pod needs nothing: the node itself wrote it, with any names.
    if (!nodeName || pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return [];
    const { claims, secrets, configMaps } = podReferences(pod);
    const { namespace = '' } = pod.metadata;
    const { serviceAccountName } = pod.spec;
    const version = functionVersionOf(pod);
    const keys = (resource: string, names: Iterable<string>) =>
      Array.from(names, (name) => neededBy(nodeName, resource, namespace, name));
    return [
      ...keys('secrets', secrets),
      ...keys('configmaps', configMaps),
      ...keys('persistentvolumeclaims', claims),
      ...(serviceAccountName ? keys(tokens, [serviceAccountName]) : []),
      ...(version === undefined
        ? []
        : [...keys(versions, [version]), ...keys(`${versions}/status`, [version])]),
    ];
  },
};

/**
 * Returns the version that the pod is an instance of, if a container has the image of a function: the label
 * alone is not sufficient.
 */
function functionVersionOf({ metadata, spec }: Pod): string | undefined {
  const isInstance = spec.containers.some(
    ({ image }) => namespaceOfFunctionImage(image) === metadata.namespace,
  );
  return isInstance ? metadata.labels?.[functionVersionLabel] : undefined;
}

export function nodeAuthorizer(engine: EngineContext): Authorizer {
  const server: Reader = { ...engine, needs: engine.cache.index(podsByNeed) };
  return async (request) => {
    const node = nodeNameOf(request.user);
    if (node === undefined || request.type !== 'resource') return false;
    if (await anyAllows(rules, server, request, node)) return true;
    return (await anyAllows(memberRules, server, request, node)) && isMember(server, node);
  };
}

async function anyAllows(
  table: readonly NodeRule[],
  server: Reader,
  request: ResourceAccess,
  node: string,
): Promise<boolean> {
  for (const rule of table) {
    const matches =
      rule.group === request.group &&
      rule.resources.includes(request.resource) &&
      rule.verbs.some((verb) => verb === request.verb);
    if (matches && (await holds(rule.when, server, request, node))) return true;
  }
  return false;
}

async function isMember(server: Reader, name: string): Promise<boolean> {
  const node = await findObject(server, nodeResource, '', name);
  return node !== undefined && node.status?.phase !== 'Pending';
}

function holds(
  condition: Condition,
  server: Reader,
  request: ResourceAccess,
  node: string,
): boolean | Promise<boolean> {
  const { namespace, name, verb, fieldSelector = [] } = request;
  switch (condition) {
    case 'always':
      return true;
    case 'cluster service':
      return [apiService, dnsService].some((own) => own.namespace === namespace && own.name === name);
    case 'own name':
      return name === node;
    case 'own lease':
      return namespace === 'kube-node-lease' && (name === node || (verb === 'create' && name === ''));
    case 'of its name':
      return requiredFieldValue(fieldSelector, 'spec.nodeName') === node;
    case 'bound pod':
      return isBound(server, request, node);
    case 'needed here':
      return isNeeded(server, request, node);
    case 'version needed here':
      return isVersionNeeded(server, request, node);
    case 'own volumes':
      return request.labelSelector === volumesOfNode(node);
    case 'own volume':
      return isOwnVolume(server, request, node);
    case 'own watch':
      return isOwnWatch(server, request, node);
    case 'volume needed here':
      return isVolumeNeeded(server, request, node);
  }
}

/**
 * Returns whether the pod is bound to the node. A deleted pod is authorized, because the answer 404 is more
 * informative than 403.
 */
async function isBound(server: Reader, { namespace, name }: ResourceAccess, node: string): Promise<boolean> {
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

/**
 * Returns whether a pod of the node needs the version. A deleted version is authorized and answered with 404,
 * which tells the node that its image is no longer needed.
 */
async function isVersionNeeded(server: Reader, request: ResourceAccess, node: string): Promise<boolean> {
  const { namespace, name } = request;
  if (name === '') return false;
  if (await isNeeded(server, request, node)) return true;
  return (await findObject(server, functionVersionResource, namespace, name)) === undefined;
}

async function isOwnVolume(server: Reader, { name }: ResourceAccess, node: string): Promise<boolean> {
  const volume = name === '' ? undefined : await findObject(server, persistentVolumeResource, '', name);
  return volume !== undefined && isLookedAfterBy(volume, node);
}

/** Returns whether the watch is the node's. A deleted one is authorized and answered with 404. */
async function isOwnWatch(
  server: Reader,
  { namespace, name }: ResourceAccess,
  node: string,
): Promise<boolean> {
  if (name === '') return false;
  const watch = await findObject(server, folderWatchResource, namespace, name);
  return watch === undefined || watch.spec.nodeName === node;
}

/** Returns whether a pod of the node needs the claim that the volume is bound to. */
async function isVolumeNeeded(server: Reader, request: ResourceAccess, node: string): Promise<boolean> {
  if (request.name === '') return false;
  const volume = await findObject(server, persistentVolumeResource, '', request.name);
  const { namespace = '', name = '' } = volume?.spec.claimRef ?? {};
  return isNeeded(server, { ...request, resource: 'persistentvolumeclaims', namespace, name }, node);
}
