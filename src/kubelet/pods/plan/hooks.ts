/** Which hook of a container is to run, and what its outcome means (upstream: startContainer, executePreStopHook). */
import { servingContainers } from '../../../api/core/v1/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import type { Container, ContainerPort, LifecycleHandler } from '../../../api/core/v1/types.gen.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';

export type HookName = 'postStart' | 'preStop';

type Pending =
  | { readonly at: 'due' | 'running' }
  /** `message`: as the container's status says it. */
  | { readonly at: 'failed'; readonly message: string };

export type HookState = Pending | { readonly at: 'done' };

/** Of a container, by its id. */
export type HookKey = `${string}.${HookName}`;

export const hookKey = (id: string, hook: HookName): HookKey => `${id}.${hook}`;

export interface RunHook {
  readonly type: 'runHook';
  readonly id: string;
  readonly name: string;
  readonly hook: HookName;
  readonly handler: LifecycleHandler;
  /** That the handler may name. */
  readonly ports: readonly ContainerPort[];
}

type Known = Pick<PodMemory, 'hooks'>;

/** What a container that runs has before it until it counts as started; undefined when there is nothing left. */
export function pendingStart(
  { id, state }: ContainerState,
  { lifecycle }: Pick<Container, 'lifecycle'>,
  { hooks }: Known,
): Pending | undefined {
  if (state !== 'running' || !lifecycle?.postStart) return undefined;
  const found: HookState = hooks.get(hookKey(id, 'postStart')) ?? { at: 'due' };
  return found.at === 'done' ? undefined : found;
}

/** Without those containers of which nobody is told yet that they run. */
export function pastStartHooks(
  { spec }: Pick<Pod, 'spec'>,
  observed: ObservedPod,
  known: Known,
): ObservedPod {
  const containers = observed.containers.filter((container) => {
    const wanted = servingContainers(spec).find(({ name }) => name === container.name);
    return !wanted || !pendingStart(container, wanted, known);
  });
  return { ...observed, containers };
}

/** Undefined when it has begun, or there is none. */
export function dueStartHook(
  container: ContainerState,
  wanted: Container,
  known: Known,
): RunHook | undefined {
  const { id, name } = container;
  const handler = wanted.lifecycle?.postStart;
  if (!handler || pendingStart(container, wanted, known)?.at !== 'due') return undefined;
  return { type: 'runHook', id, name, hook: 'postStart', handler, ports: wanted.ports ?? [] };
}

/** The hook that comes before a container is asked to stop, unless it has ended; one that has begun is waited for. */
export function stopHook(
  { id, name, preStop }: ContainerState,
  { hooks }: Known,
): 'running' | RunHook | undefined {
  if (!preStop) return undefined;
  const found = hooks.get(hookKey(id, 'preStop'));
  if (found) return found.at === 'running' ? 'running' : undefined;
  return { type: 'runHook', id, name, hook: 'preStop', ...preStop };
}
