/**
 * Resources that are allocated to a pod on this node. They may differ from what the pod requests now: a
 * change is granted only where the node has the resources (pkg/kubelet: handlePodResourcesResize,
 * canResizePod). A pod runs with its allocated resources.
 */
import { servingContainers } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { podRequests } from '../../../api/core/v1/pod/requests.ts';
import { resizable } from '../../../api/core/v1/pod/resize.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { deepEqual, isRecord } from '../../../apimachinery/equality.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PendingResize } from './actions.ts';
import { lackOf } from './admit-pod.ts';

export type Resources = Pick<Container['resources'], 'limits' | 'requests'>;

/** Allocated resources by container name. */
export type Allocation = ReadonlyMap<string, Resources>;

/** Returns the resources that the pod requests. */
export const allocationOf = (pod: Pod): Allocation =>
  new Map(servingContainers(pod.spec).map(({ name, resources }) => [name, resources]));

/**
 * Reads the allocation in a container's label (written by container-config.ts); undefined when it is missing
 * or invalid.
 */
export function readResources(text: string | undefined): Resources | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { limits, requests } = value;
  if (!areAmounts(limits) || !areAmounts(requests)) return undefined;
  return { ...(limits && { limits }), ...(requests && { requests }) };
}

const areAmounts = (value: unknown): value is Record<string, string> | undefined =>
  value === undefined ||
  (isRecord(value) && Object.values(value).every((amount) => typeof amount === 'string'));

/**
 * Returns the allocation that was recorded when the containers were made; for containers without a record,
 * the pod's requests.
 */
export function allocationFrom(pod: Pod, containers: readonly ContainerState[]): Allocation {
  const newest = containers.toSorted((a, b) => a.attempt - b.attempt);
  const noted = new Map(newest.map(({ name, allocation }) => [name, readResources(allocation)]));
  return new Map([...allocationOf(pod)].map(([name, requested]) => [name, noted.get(name) ?? requested]));
}

/** Returns the pod with its allocated resources: the same object where nothing differs. */
export function allocatedPod(pod: Pod, allocation: Allocation): Pod {
  if (!isResized(pod, allocation)) return pod;
  const { containers, initContainers } = pod.spec;
  const asGiven = (container: Container): Container => {
    const given = allocation.get(container.name);
    return given ? { ...container, resources: { ...container.resources, ...given } } : container;
  };
  const spec = {
    ...pod.spec,
    containers: containers.map(asGiven),
    ...(initContainers && { initContainers: initContainers.map(asGiven) }),
  };
  return { ...pod, spec };
}

/** Returns true when the pod requests other resources than are allocated to it. */
export const isResized = (pod: Pod, allocation: Allocation): boolean =>
  servingContainers(pod.spec).some(({ name, resources }) => {
    const given = allocation.get(name);
    return given !== undefined && !deepEqual(amountsOf(given), amountsOf(resources));
  });

const amountsOf = ({ limits = {}, requests = {} }: Resources) =>
  resizable.map((name) => [limits[name], requests[name]]);

/**
 * Returns the reason why the pod's resize cannot be granted beside the allocations of `others`; undefined
 * when it can. `allocatable` has cpu in thousandths.
 */
export function resizeProblem(
  pod: Pod,
  others: readonly Pod[],
  allocatable: ReadonlyMap<string, number>,
): PendingResize | undefined {
  const { status: _, ...withoutStatus } = pod;
  const requests = podRequests(withoutStatus as Pod);
  for (const name of ['memory', 'cpu']) {
    const [requested = 0, capacity = 0] = [requests.get(name), allocatable.get(name)];
    if (requested <= capacity) continue;
    const what = `${name}, requested: ${requested}, capacity: ${capacity}`;
    return { reason: 'Infeasible', message: `Node didn't have enough capacity: ${what}` };
  }
  const lack = lackOf(withoutStatus as Pod, others, allocatable);
  return lack && { reason: 'Deferred', message: lack.message };
}
