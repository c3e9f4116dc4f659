/**
 * Converts a pod's requests and limits to the values of the engine and the kernel (pkg/kubelet/cm and qos).
 */

import { isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { nodeCriticalClass } from '../../../api/core/v1/pod/priority.ts';
import { qosClassOf } from '../../../api/core/v1/pod/qos.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  zeroQuantity,
} from '../../../apimachinery/quantity.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';

const minShares = 2;
const maxShares = 262_144;

type List = Readonly<Record<string, string>>;

const amount = (list: List | undefined, name: string) => {
  const text = list?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** Converts thousandths of a CPU to shares: 1 CPU is 1024 shares; the kernel accepts 2 to 262144. */
export function cpuShares(milliCpu: number): number {
  return Math.min(Math.max(Math.floor((milliCpu * 1024) / 1000), minShares), maxShares);
}

/**
 * Returns the limit that is applied: the kernel accepts none below a hundredth of a CPU (MinMilliCPULimit).
 */
const effectiveMilliCpu = (limit: number) => (limit > 0 ? Math.max(limit, 10) : 0);

const memoryRequest = ({ resources: { limits, requests } }: Pick<Container, 'resources'>): number =>
  quantityValue(amount(requests, 'memory') ?? amount(limits, 'memory') ?? zeroQuantity);

/**
 * Returns the resources without oomScoreAdj, which stays as it was when the container's processes were
 * started.
 */
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

/** Value of oom_score_adj for the processes that the kernel kills last. */
const lastToGo = -997;

/**
 * Returns the oom_score_adj. The more of the node's memory a Burstable container requests, the later it is
 * killed; a sidecar is not killed before the container with the lowest request among those it serves
 * (pkg/kubelet/qos/policy.go).
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
