/** From a pod's requests and limits to what the engine and the kernel take (pkg/kubelet/cm and qos). */

import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  zeroQuantity,
} from '../../apimachinery/quantity.ts';
import type { ContainerResources } from '../runtime/runtime.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const minShares = 2;
const maxShares = 262_144;
const computed = ['cpu', 'memory'] as const;

type List = Readonly<Record<string, string>>;

const amount = (list: List | undefined, name: string) => {
  const text = list?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** Guaranteed: every container limits cpu and memory and requests the same; BestEffort: none asks for anything. */
export function qosClass(pod: Pick<Pod, 'spec'>): QosClass {
  let guaranteed = true;
  let bestEffort = true;
  for (const { resources } of pod.spec.containers) {
    for (const name of computed) {
      const limit = amount(resources.limits, name)?.nano ?? 0n;
      const request = amount(resources.requests, name)?.nano ?? limit;
      if (limit > 0n || request > 0n) bestEffort = false;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  }
  if (bestEffort) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** 1 CPU is 1024 shares; the kernel takes 2 to 262144. */
export function cpuShares(milliCpu: number): number {
  return Math.min(Math.max(Math.floor((milliCpu * 1024) / 1000), minShares), maxShares);
}

export function containerResources(
  container: Pick<Container, 'resources'>,
  qos: QosClass,
  nodeMemoryBytes: number,
): ContainerResources {
  const { limits, requests } = container.resources;
  const cpuLimit = amount(limits, 'cpu') ?? zeroQuantity;
  const cpuRequest = amount(requests, 'cpu') ?? cpuLimit;
  const memoryLimit = amount(limits, 'memory') ?? zeroQuantity;
  const memoryRequest = amount(requests, 'memory') ?? memoryLimit;
  return {
    nanoCpus: quantityMilliValue(cpuLimit) * 1_000_000,
    cpuShares: cpuShares(quantityMilliValue(cpuRequest)),
    memory: quantityValue(memoryLimit),
    oomScoreAdj: oomScore(qos, quantityValue(memoryRequest), nodeMemoryBytes),
  };
}

/** The more of the node a Burstable container reserves, the later it is chosen (pkg/kubelet/qos/policy.go). */
function oomScore(qos: QosClass, memoryRequest: number, nodeMemoryBytes: number): number {
  if (qos === 'Guaranteed') return -997;
  if (qos === 'BestEffort') return 1000;
  return Math.min(Math.max(1000 - Math.floor((1000 * memoryRequest) / nodeMemoryBytes), 3), 999);
}
