/** The objects that a node reports: its Node with the status, and its Lease. */

import { type Lease, nodeLeaseNamespace } from '../../../api/coordination/v1/lease.ts';
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from '../../../apimachinery/quantity.ts';
import { rfc3339Micro } from '../../../base/time.ts';
import { amountsIn, type DeviceCounts } from '../../devices/plan/device-counts.ts';
import type { RuntimeHandler } from '../../runtime/runtime.ts';
import { type NodeHealth, nodeConditions } from './node-conditions.ts';

/** Hardware and software of this machine. */
export interface NodeFacts {
  readonly hostname: string;
  readonly architecture: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  /** True when AppArmor profiles can confine programs. */
  readonly hasAppArmor: boolean;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Size of the file system of the data directory. */
  readonly storageBytes: number;
  readonly kubeletVersion: string;
}

export interface NodeImage {
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

/** Resources that can be reserved in part for the machine itself. */
export const reservable = ['cpu', 'memory', 'ephemeral-storage'] as const;

/** Resources whose capacity the agent itself reports; see `capacityOf`. */
const ownResources: ReadonlySet<string> = new Set([...reservable, 'pods']);

/** Resources reserved for the machine itself, such as `{ cpu: '500m', memory: '1Gi' }`. */
export type ReservedResources = Readonly<Partial<Record<(typeof reservable)[number], string>>>;

export interface NodeInput extends NodeHealth {
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly nodeIPv6?: string | undefined;
  readonly facts: NodeFacts;
  readonly maxPods: number;
  readonly kubeletPort: number | undefined;
  /** Version such as `docker://20.10.24`; '' while it is unknown. */
  readonly runtimeVersion: string;
  /** Empty or absent while the handlers are unknown. */
  readonly runtimeHandlers?: readonly RuntimeHandler[];
  readonly images: readonly NodeImage[];
  readonly systemReserved?: ReservedResources | undefined;
  /** Absent for none. */
  readonly devices?: DeviceCounts;
}

/** Number of missed heartbeats after which a node no longer holds its Lease. */
const heartbeatsOfLease = 4;
const maxImages = 50;

/** Returns the standard labels for selecting nodes. */
export function nodeLabels({
  nodeName,
  facts,
}: Pick<NodeInput, 'nodeName' | 'facts'>): Record<string, string> {
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': facts.architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': facts.architecture,
  };
}

type NodeStatus = NonNullable<Node['status']>;

export function capacityOf({ facts, maxPods }: Pick<NodeInput, 'facts' | 'maxPods'>) {
  return {
    cpu: String(facts.cpus),
    // Quantities in the API server's form; otherwise every comparison would find a difference.
    memory: canonicalQuantity(`${Math.floor(facts.memoryBytes / 1024)}Ki`),
    'ephemeral-storage': canonicalQuantity(`${Math.floor(facts.storageBytes / 1024)}Ki`),
    pods: String(maxPods),
  };
}

/** Returns the resources that pods may request. Throws when more is reserved than the machine has. */
export function allocatableOf(
  capacity: ReturnType<typeof capacityOf>,
  reserved: ReservedResources = {},
): Record<string, string> {
  const left: Record<string, string> = { ...capacity };
  for (const name of reservable) {
    const text = reserved[name] ?? '0';
    const [all, kept] = [parseQuantity(capacity[name]), parseQuantity(text)];
    if (compareQuantities(all, kept) < 0) {
      throw new Error(`system-reserved: ${name}=${text} is more than this machine has (${capacity[name]})`);
    }
    left[name] = formatQuantity(subtractQuantities(all, kept));
  }
  return left;
}

const noDevices: DeviceCounts = new Map();

/**
 * Returns extended and other resources in the capacity that other components advertise, without the agent's
 * own.
 */
function advertised(capacity: NodeStatus['capacity'] = {}, devices: DeviceCounts): Record<string, string> {
  const isOwn = (name: string) => ownResources.has(name) || devices.has(name);
  return Object.fromEntries(Object.entries(capacity).filter(([name]) => !isOwn(name)));
}

export function computeNodeStatus(input: NodeInput, previous: Node['status']): NodeStatus {
  const { facts, nodeIP, nodeIPv6, nodeName, kubeletPort, runtimeVersion, devices = noDevices } = input;
  const capacity = capacityOf(input);
  const others = advertised(previous?.capacity, devices);
  return {
    ...previous,
    capacity: { ...others, ...amountsIn(devices, 'capacity'), ...capacity },
    allocatable: {
      ...others,
      ...amountsIn(devices, 'allocatable'),
      ...allocatableOf(capacity, input.systemReserved),
    },
    addresses: [
      { type: 'InternalIP', address: nodeIP },
      ...(nodeIPv6 === undefined ? [] : [{ type: 'InternalIP', address: nodeIPv6 }]),
      { type: 'Hostname', address: nodeName },
    ],
    ...(kubeletPort !== undefined && { daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } }),
    nodeInfo: {
      machineID: facts.machineID,
      systemUUID: facts.systemUUID,
      bootID: facts.bootID,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: facts.kubeletVersion,
      operatingSystem: 'linux',
      architecture: facts.architecture,
    },
    ...runtimeFeatures(input, previous),
    images: input.images
      .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
      .slice(0, maxImages)
      .map(({ names, sizeBytes }) => ({ names: [...names], sizeBytes })),
    conditions: nodeConditions(input, previous?.conditions ?? []),
  };
}

/**
 * Returns the engine's features. No supported engine has user namespaces per pod (decision 22), or can leave
 * out the groups of the image.
 */
function runtimeFeatures(
  { runtimeHandlers = [] }: NodeInput,
  previous: Node['status'],
): Pick<NodeStatus, 'features' | 'runtimeHandlers'> {
  const { features, runtimeHandlers: previousHandlers } = previous ?? {};
  if (runtimeHandlers.length === 0)
    return { ...(features && { features }), ...(previousHandlers && { runtimeHandlers: previousHandlers }) };
  return {
    features: { supplementalGroupsPolicy: false },
    runtimeHandlers: runtimeHandlers.map(({ name, recursiveReadOnlyMounts }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces: false },
    })),
  };
}

/**
 * Returns a merge patch that changes `previous` to the status. Capacity that other components advertise is
 * not in the patch, because it may have changed on the server; resources that are no longer in the capacity
 * are removed from `allocatable`.
 */
export function nodeStatusPatch(
  status: NodeStatus,
  previous: Node['status'],
  devices: DeviceCounts = noDevices,
): object {
  const { capacity = {}, allocatable = {} } = status;
  const others = advertised(capacity, devices);
  const own = Object.entries(capacity).filter(([name]) => !Object.hasOwn(others, name));
  return {
    ...status,
    capacity: { ...withoutGone(previous?.capacity, capacity), ...Object.fromEntries(own) },
    allocatable: { ...withoutGone(previous?.allocatable, allocatable), ...allocatable },
  };
}

const withoutGone = (before: Readonly<Record<string, string>> = {}, now: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.keys(before)
      .filter((name) => !Object.hasOwn(now, name))
      .map((name) => [name, null]),
  );

/** Returns the lease, renewed; fields of `previous` that other components wrote are kept. */
export function renewedLease(nodeName: string, heartbeatMs: number, now: number, previous: Lease): Lease {
  const spec = {
    ...previous.spec,
    holderIdentity: nodeName,
    leaseDurationSeconds: leaseSeconds(heartbeatMs),
    renewTime: rfc3339Micro(now),
  };
  return { ...previous, spec };
}

export const leaseSeconds = (heartbeatMs: number) => Math.ceil((heartbeatsOfLease * heartbeatMs) / 1000);

/** Returns a new Lease. Its Node owns it, so it is removed with the Node. */
export function newLease(node: Node, heartbeatMs: number, now: number): Draft<Lease> {
  const { name, uid } = node.metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: nodeLeaseNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: leaseSeconds(heartbeatMs),
      renewTime: rfc3339Micro(now),
    },
  };
}
