import type { ContainerState, SandboxState } from './runtime.ts';

/** What the engine has of a pod. */
export interface ObservedPod {
  readonly sandboxes: readonly SandboxState[];
  readonly containers: readonly ContainerState[];
}

export const hasRunning = ({ containers }: ObservedPod): boolean =>
  containers.some(({ state }) => state !== 'exited');
