/** What a node tells of itself: its object, its status, its lease. */

import type { Lease } from '../../api/coordination/v1/lease.ts';
import type { Node } from '../../api/core/v1/node.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { canonicalQuantity } from '../../apimachinery/quantity.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { rfc3339, rfc3339Micro } from '../../base/time.ts';

/** What this machine is and has. */
export interface NodeFacts {
  readonly hostname: string;
  readonly architecture: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Of the file system the data directory is on. */
  readonly storageBytes: number;
  readonly kubeletVersion: string;
}

export interface NodeImage {
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface NodeInput {
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly facts: NodeFacts;
  readonly maxPods: number;
  readonly kubeletPort: number | undefined;
  /** Such as `docker://20.10.24`; '' while it is unknown. */
  readonly runtimeVersion: string;
  readonly images: readonly NodeImage[];
  /** Why no pod can run here; undefined when they can. */
  readonly problem: string | undefined;
  readonly now: number;
}

export const leaseNamespace = 'kube-node-lease';
export const leaseSeconds = 40;
const mostImages = 50;

/** Labels that schedulers and people select by. */
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

export function computeNodeStatus(input: NodeInput, previous: Node['status']): NodeStatus {
  const { facts, nodeIP, nodeName, kubeletPort, runtimeVersion, maxPods } = input;
  const capacity = {
    cpu: String(facts.cpus),
    // As the server writes them, or every look would find a difference.
    memory: canonicalQuantity(`${Math.floor(facts.memoryBytes / 1024)}Ki`),
    'ephemeral-storage': canonicalQuantity(`${Math.floor(facts.storageBytes / 1024)}Ki`),
    pods: String(maxPods),
  };
  return {
    ...previous,
    capacity,
    allocatable: capacity,
    addresses: [
      { type: 'InternalIP', address: nodeIP },
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
    images: input.images
      .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
      .slice(0, mostImages)
      .map(({ names, sizeBytes }) => ({ names: [...names], sizeBytes })),
    conditions: nodeConditions(input, previous?.conditions ?? []),
  };
}

function nodeConditions({ problem, now }: NodeInput, previous: readonly Condition[]): Condition[] {
  const own: readonly Omit<Condition, 'lastHeartbeatTime' | 'lastTransitionTime'>[] = [
    {
      type: 'MemoryPressure',
      status: 'False',
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
    },
    {
      type: 'DiskPressure',
      status: 'False',
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
    },
    {
      type: 'PIDPressure',
      status: 'False',
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
    },
    problem === undefined
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: problem },
  ];
  const others = previous.filter(({ type }) => !own.some((condition) => condition.type === type));
  const timed = own.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return {
      ...condition,
      lastHeartbeatTime: rfc3339(now),
      lastTransitionTime: since ?? rfc3339(now),
    };
  });
  return [...others, ...timed];
}

/** The lease as it should be now; `previous` keeps what others wrote. */
export function renewedLease(nodeName: string, now: number, previous: Lease): Lease {
  const spec = {
    ...previous.spec,
    holderIdentity: nodeName,
    leaseDurationSeconds: leaseSeconds,
    renewTime: rfc3339Micro(now),
  };
  return { ...previous, spec };
}

/** Goes with its Node: it is the Node's dependent. */
export function newLease(node: Node, now: number): Draft<Lease> {
  const { name, uid } = node.metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: leaseNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: rfc3339Micro(now) },
  };
}
