/**
 * Which of the containers before the others are to run now (upstream: computeInitContainerActions). What has run in the
 * pod's sandbox tells how far they are; in another sandbox all begin anew.
 */
import { initContainersOf, isSidecar } from '../../../api/core/v1/init-containers.ts';
import type { Container, PodSpec } from '../../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import { isStarted } from './container-started.ts';
import { isFailure } from './restart-policy.ts';

export interface InitProgress {
  /** The pod's own containers may start. */
  readonly isDone: boolean;
  /** Those that have their turn, or have had it and go on beside the others. */
  readonly current: readonly Container[];
}

/** `latest`: the newest container of each name. */
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
  // Those before the last that was started had their time, even if somebody has removed what was left of them.
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
