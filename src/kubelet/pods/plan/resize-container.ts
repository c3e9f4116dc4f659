/** Applies allocated resources to a running container (pkg/kubelet: computePodResizeAction). */
import { restartToResize } from '../../../api/core/v1/container/resize-policy.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { containerResources } from '../../containers/plan/resources.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';

export interface ContainerResize {
  readonly resources: ContainerResources;
  /** True when the container's resize policy requires a restart for this change. */
  readonly restarts: boolean;
}

/** Returns the change; undefined when the container already has these limits or its limits are not known. */
export function containerResize(
  wanted: Pick<Container, 'resources' | 'resizePolicy'>,
  { resources: actual }: Pick<ContainerState, 'resources'>,
): ContainerResize | undefined {
  if (!actual) return undefined;
  const { oomScoreAdj } = actual;
  const resources = { ...containerResources(wanted), oomScoreAdj };
  const cpu = resources.nanoCpus !== actual.nanoCpus || !sameShares(resources.cpuShares, actual.cpuShares);
  const memory = resources.memory !== actual.memory;
  if (!cpu && !memory) return undefined;
  const restartsFor = (name: string) =>
    wanted.resizePolicy?.some(
      ({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === restartToResize,
    ) === true;
  return { resources, restarts: (cpu && restartsFor('cpu')) || (memory && restartsFor('memory')) };
}

/**
 * Returns true for a container that was stopped for its resize: it starts again whatever the restart policy
 * is, and without back-off, because it did not fail.
 */
export const stoppedToResize = (
  wanted: Pick<Container, 'resources' | 'resizePolicy'>,
  container: ContainerState,
  { stopping }: Pick<PodMemory, 'stopping'>,
): boolean => stopping.has(container.id) && containerResize(wanted, container)?.restarts === true;

/** Compares shares; the kernel's minimum is 2. */
const sameShares = (a: number, b: number) => Math.max(a, 2) === Math.max(b, 2);
