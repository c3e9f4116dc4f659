/** Resize information in a pod's status: allocated resources, actual resources, and pending changes. */
import { findContainer } from '../../../api/core/v1/container/ephemeral-containers.ts';
import { servingContainers } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus, ResourceRequirements } from '../../../api/core/v1/types.gen.ts';
import { canonicalQuantity } from '../../../apimachinery/quantity.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import { latestContainers } from './compute-pod-actions.ts';
import { containerResize } from './resize-container.ts';

/** Adds the resources to the statuses. `pod` must have its allocated resources (allocatedPod). */
export function withResources(
  statuses: readonly ContainerStatus[],
  pod: Pod,
  containers: readonly ContainerState[],
): ContainerStatus[] {
  const latest = latestContainers({ containers });
  return statuses.map((status) => {
    const wanted = findContainer(pod.spec, status.name);
    const container = latest.get(status.name);
    // The resources are unknown until the container is created.
    if (!wanted || !container) return status;
    return { ...status, ...reportedResources(wanted.resources ?? {}, container) };
  });
}

/**
 * Returns the allocated and the actual resources; for a container that does not run, the resources of its
 * spec.
 */
function reportedResources(
  allocated: ResourceRequirements,
  container: ContainerState,
): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  const { requests, limits } = allocated;
  const actual = container.state === 'running' ? container.resources : undefined;
  return {
    ...(requests && Object.keys(requests).length > 0 && { allocatedResources: requests }),
    resources: actual
      ? actualResources(allocated, actual)
      : { ...(limits && { limits }), ...(requests && { requests }) },
  };
}

/** Returns the resources that the container actually has, where they differ from its allocation. */
function actualResources(
  { limits, requests }: ResourceRequirements,
  actual: ContainerResources,
): ResourceRequirements {
  const held = containerResize({ resources: { limits, requests } as never }, { resources: actual });
  const wanted = held?.resources;
  const differs = (name: 'nanoCpus' | 'memory' | 'cpuShares') =>
    wanted !== undefined && wanted[name] !== actual[name];
  const cpu = canonicalQuantity(`${Math.round(actual.nanoCpus / 1e6)}m`);
  const request = canonicalQuantity(`${milliOf(actual.cpuShares)}m`);
  return {
    ...(limits && {
      limits: {
        ...limits,
        ...(limits.cpu !== undefined && differs('nanoCpus') && { cpu }),
        ...(limits.memory !== undefined && differs('memory') && { memory: String(actual.memory) }),
      },
    }),
    ...(requests && {
      requests: { ...requests, ...(requests.cpu !== undefined && differs('cpuShares') && { cpu: request }) },
    }),
  };
}

/** Converts cpuShares to thousandths of a CPU, rounded up, so that converting back gives the same shares. */
const milliOf = (shares: number) => Math.ceil((shares * 1000) / 1024);

export interface ResizeState {
  /** Value of the status field that preceded the conditions. */
  readonly resize: 'Deferred' | 'Infeasible' | 'InProgress' | undefined;
  readonly conditions: readonly Condition[];
}

export const resizeConditions = ['PodResizePending', 'PodResizeInProgress'] as const;

export function resizeState(
  pod: Pod,
  containers: readonly ContainerState[],
  { resize }: Pick<PodMemory, 'resize'>,
): ResizeState {
  const latest = latestContainers({ containers });
  const isMoving = servingContainers(pod.spec).some((wanted) => {
    const container = latest.get(wanted.name);
    return container?.state === 'running' && containerResize(wanted, container) !== undefined;
  });
  const { pending, failure } = resize ?? {};
  const error = failure && { reason: 'Error', message: failure.message };
  return {
    resize: pending?.reason ?? (isMoving ? 'InProgress' : undefined),
    conditions: [
      ...(pending ? [{ type: 'PodResizePending', status: 'True' as const, ...pending }] : []),
      ...(isMoving ? [{ type: 'PodResizeInProgress', status: 'True' as const, ...error }] : []),
    ],
  };
}
