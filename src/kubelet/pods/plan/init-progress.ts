/**
 * Decides which init containers run now (upstream: computeInitContainerActions). The containers of the pod's
 * sandbox show the progress; in a new sandbox all begin again.
 */
import { initContainersOf, isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import type { Container, PodSpec } from '../../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import { isStarted } from './container-started.ts';
import { isFailure } from './restart-policy.ts';

export interface InitProgress {
  /** True when the pod's own containers may start. */
  readonly isDone: boolean;
  /** Init containers whose turn it is, and sidecars that continue beside the others. */
  readonly current: readonly Container[];
}

/** Returns the progress. `latest` is the newest container of each name. */
export function initProgress(
  spec: PodSpec,
  latest: ReadonlyMap<string, ContainerState>,
  sandboxId: string | undefined,
  memory: PodMemory,
): InitProgress {
  const list = initContainersOf(spec);
  const here = ({ name }: Pick<Container, 'name'>): ContainerState | undefined => {
    const container = latest.get(name);
    return container?.sandboxId === sandboxId && container?.state !== 'created' ? container : undefined;
  };
  // Containers before the last one that was started have had their turn, even if they have been removed
  // since.
  const last = list.findLastIndex((wanted) => here(wanted) !== undefined);
  const begun = list[last];
  const container = begun && here(begun);
  const next = begun && container && isOver(begun, container, memory) ? last + 1 : Math.max(last, 0);
  const isDone = next >= list.length || spec.containers.some((wanted) => here(wanted) !== undefined);
  const current = list.filter((wanted, index) => {
    if (!isDone && index === next) return true;
    return isSidecar(wanted) && (isDone || index < next);
  });
  return { isDone, current };
}

function isOver(wanted: Container, container: ContainerState, memory: PodMemory): boolean {
  if (isSidecar(wanted)) return isStarted(container, wanted, memory);
  return container.state === 'exited' && !isFailure(container);
}
