import type { ContainerState, SandboxState } from './runtime.ts';

/** The sandboxes and containers of a pod that the engine has. */
export interface ObservedPod {
  readonly sandboxes: readonly SandboxState[];
  readonly containers: readonly ContainerState[];
}

export const hasRunning = ({ containers }: ObservedPod): boolean =>
  containers.some(({ state }) => state !== 'exited');
