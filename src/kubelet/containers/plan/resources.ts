/** From a pod's requests and limits to what the engine and the kernel take (pkg/kubelet/cm and qos). */

import { isSidecar } from '../../../api/core/v1/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { qosClassOf } from '../../../api/core/v1/pod-qos.ts';
import { nodeCriticalClass } from '../../../api/core/v1/priority.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  zeroQuantity,
} from '../../../apimachinery/quantity.ts';
import type { ContainerResources } from '../../runtime/runtime.ts';

const minShares = 2;
const maxShares = 262_144;

type List = Readonly<Record<string, string>>;

const amount = (list: List | undefined, name: string) => {
  const text = list?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** 1 CPU is 1024 shares; the kernel takes 2 to 262144. */
export function cpuShares(milliCpu: number): number {
  return Math.min(Math.max(Math.floor((milliCpu * 1024) / 1000), minShares), maxShares);
}

/** The kernel takes no limit below a hundredth of a CPU (MinMilliCPULimit). */
const effectiveMilliCpu = (limit: number) => (limit > 0 ? Math.max(limit, 10) : 0);

const memoryRequest = ({ resources: { limits, requests } }: Pick<Container, 'resources'>): number =>
  quantityValue(amount(requests, 'memory') ?? amount(limits, 'memory') ?? zeroQuantity);

/** All but how its processes rank when memory is out: that stays as it was when they were started. */
export function containerResources(
  container: Pick<Container, 'resources'>,
): Omit<ContainerResources, 'oomScoreAdj'> {
  const { limits, requests } = container.resources;
  const cpuLimit = amount(limits, 'cpu') ?? zeroQuantity;
  const cpuRequest = amount(requests, 'cpu') ?? cpuLimit;
  return {
    nanoCpus: effectiveMilliCpu(quantityMilliValue(cpuLimit)) * 1_000_000,
    cpuShares: cpuShares(quantityMilliValue(cpuRequest)),
    memory: quantityValue(amount(limits, 'memory') ?? zeroQuantity),
  };
}

/** Whose processes the kernel ends last. */
const lastToGo = -997;

/**
 * The more of the node a Burstable container reserves, the later it is chosen; a sidecar no sooner than the first of the
 * containers it serves (pkg/kubelet/qos/policy.go).
 */
export function oomScoreAdj({ spec }: Pod, container: Container, nodeMemoryBytes: number): number {
  if (spec.priorityClassName === nodeCriticalClass) return lastToGo;
  const qos = qosClassOf(spec);
  if (qos === 'Guaranteed') return lastToGo;
  if (qos === 'BestEffort') return 1000;
  const served = isSidecar(container) ? Math.min(...spec.containers.map(memoryRequest)) : 0;
  const reserved = Math.max(memoryRequest(container), served);
  return Math.min(Math.max(1000 - Math.floor((1000 * reserved) / nodeMemoryBytes), 1000 + lastToGo), 999);
}
