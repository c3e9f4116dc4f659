/** Plans the actions that apply a pod's allocated resources to its running containers. */

import { servingContainers } from '../../../api/core/v1/container/init-containers.ts';
import { graceSecondsOf } from '../../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import type { Draft } from './draft.ts';
import { containerResize } from './resize-container.ts';
import { planStop } from './stop-containers.ts';

const restarts = 'its resources changed, and its resizePolicy is RestartContainer';

/**
 * Plans a container's resize. A container whose policy requires a restart is stopped, and starts with its new
 * resources (`stoppedToResize`).
 */
export function planResize(
  { spec }: Pod,
  container: ContainerState,
  { memory, now }: { readonly memory: PodMemory; readonly now: number },
  plan: Draft,
): void {
  const { id, name } = container;
  const wanted = servingContainers(spec).find((one) => one.name === name);
  const resize = wanted && containerResize(wanted, container);
  if (!resize) return;
  if (resize.restarts) {
    const graceSeconds = graceSecondsOf(spec);
    planStop(container, { graceSeconds, why: restarts, isTurn: true }, { memory, now }, plan);
    return;
  }
  const wait = (memory.resize?.failure?.retryAt ?? now) - now;
  if (wait > 0) plan.wakeIn(wait);
  else plan.add({ type: 'resizeContainer', id, name, resources: resize.resources });
}
