/** Bringing a running container to what its pod was given (pkg/kubelet: computePodResizeAction). */
import { restartToResize } from '../../../api/core/v1/resize-policy.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { containerResources } from '../../containers/plan/resources.ts';
import type { ContainerResources, ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';

export interface ContainerResize {
  readonly resources: ContainerResources;
  /** One that is held to something else now cannot just be told so: its policy is to start again. */
  readonly restarts: boolean;
}

/** Undefined when it is held to that already, or it is not known to what. */
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

/** It starts again whatever the restart policy says of its end, and does not wait: it did not fail. */
export const stoppedToResize = (
  wanted: Pick<Container, 'resources' | 'resizePolicy'>,
  container: ContainerState,
  { stopping }: Pick<PodMemory, 'stopping'>,
): boolean => stopping.has(container.id) && containerResize(wanted, container)?.restarts === true;

/** Nothing is below the least that the kernel takes. */
const sameShares = (a: number, b: number) => Math.max(a, 2) === Math.max(b, 2);
