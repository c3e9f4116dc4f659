/**
 * Decides which hook of a container runs, and what its outcome means (upstream: startContainer,
 * executePreStopHook).
 */
import { servingContainers } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, ContainerPort, LifecycleHandler } from '../../../api/core/v1/types.gen.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerState } from '../../runtime/runtime.ts';

export type HookName = 'postStart' | 'preStop';

type Pending =
  | { readonly at: 'due' | 'running' }
  /** `message` is the text for the container's status. */
  | { readonly at: 'failed'; readonly message: string };

export type HookState = Pending | { readonly at: 'done' };

/** Key of a container's hook, by the container's id. */
export type HookKey = `${string}.${HookName}`;

export const hookKey = (id: string, hook: HookName): HookKey => `${id}.${hook}`;

export interface RunHook {
  readonly type: 'runHook';
  readonly id: string;
  readonly name: string;
  readonly hook: HookName;
  readonly handler: LifecycleHandler;
  /** Ports of the container that the handler may refer to by name. */
  readonly ports: readonly ContainerPort[];
}

/** Hooks of a pod that the agent keeps in its memory. */
export interface HookMemory {
  /** Hooks that have begun. */
  readonly hooks: ReadonlyMap<HookKey, HookState>;
}

/**
 * Returns the state of a running container's postStart hook that has not completed; undefined when nothing is
 * left before the container counts as started.
 */
export function pendingStart(
  { id, state }: ContainerState,
  { lifecycle }: Pick<Container, 'lifecycle'>,
  { hooks }: HookMemory,
): Pending | undefined {
  if (state !== 'running' || !lifecycle?.postStart) return undefined;
  const found: HookState = hooks.get(hookKey(id, 'postStart')) ?? { at: 'due' };
  return found.at === 'done' ? undefined : found;
}

/**
 * Returns the pod without containers that are not yet reported as running because of their postStart hook.
 */
export function pastStartHooks(
  { spec }: Pick<Pod, 'spec'>,
  observed: ObservedPod,
  known: HookMemory,
): ObservedPod {
  const containers = observed.containers.filter((container) => {
    const wanted = servingContainers(spec).find(({ name }) => name === container.name);
    return !wanted || !pendingStart(container, wanted, known);
  });
  return { ...observed, containers };
}

/** Returns the postStart hook that is due; undefined when it has begun or there is none. */
export function dueStartHook(
  container: ContainerState,
  wanted: Container,
  known: HookMemory,
): RunHook | undefined {
  const { id, name } = container;
  const handler = wanted.lifecycle?.postStart;
  if (!handler || pendingStart(container, wanted, known)?.at !== 'due') return undefined;
  return { type: 'runHook', id, name, hook: 'postStart', handler, ports: wanted.ports ?? [] };
}

/**
 * Returns the hook that runs before a container's stop signal is sent, or `running` while it has not
 * finished; undefined when there is none or it has ended.
 */
export function stopHook(
  { id, name, preStop }: ContainerState,
  { hooks }: HookMemory,
): 'running' | RunHook | undefined {
  if (!preStop) return undefined;
  const found = hooks.get(hookKey(id, 'preStop'));
  if (found) return found.at === 'running' ? 'running' : undefined;
  return { type: 'runHook', id, name, hook: 'preStop', ...preStop };
}
