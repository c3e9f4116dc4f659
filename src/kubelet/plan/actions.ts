/** The vocabulary between deciding and doing: what is known of a pod on this node, and what can be done to it. */
import type { ContainerState, SandboxState } from '../runtime/runtime.ts';

export interface ObservedPod {
  readonly sandboxes: readonly SandboxState[];
  readonly containers: readonly ContainerState[];
}

export type StartFailureReason =
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError';

/** Something that did not work, and when it is tried again. */
export interface Failure<R extends string = string> {
  readonly reason: R;
  readonly message: string;
  /** In a row, at least 1. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly failedAt: number;
  readonly retryAt: number;
}

/** The node's own decision to end a pod for good: it does not fit, the node is short of something, or goes down. */
export interface PodEnd {
  /** Of the status, such as `Evicted`. */
  readonly reason: string;
  readonly message: string;
  /** Undefined: the pod's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Set when something else than the pod itself is the cause: its condition DisruptionTarget. */
  readonly disruption: boolean;
}

/** What the agent remembers of a pod beside what the engine tells; losing it costs time, never correctness. */
export interface PodMemory {
  /** By container name. */
  readonly startFailures: ReadonlyMap<string, Failure<StartFailureReason>>;
  readonly sandboxFailure: Failure | undefined;
  /** When a container was asked to stop, by id. */
  readonly stopping: ReadonlyMap<string, number>;
  /** By container id. */
  readonly terminationMessages: ReadonlyMap<string, string>;
  /** Nothing is left of a pod in deletion, and the API server, if it had the pod, knows. */
  readonly reportedGone: boolean;
  /** Set once this node has decided to end the pod. */
  readonly end?: PodEnd | undefined;
}

export type PodAction =
  | { readonly type: 'createSandbox'; readonly attempt: number }
  | { readonly type: 'removeSandbox'; readonly id: string }
  | {
      readonly type: 'startContainer';
      readonly name: string;
      readonly sandboxId: string;
      readonly attempt: number;
      readonly crashes: number;
      /** The container whose processes this one sees, by id; only where the pod names one, and that runs. */
      readonly processesOf?: string;
    }
  /** Asks the container to stop; a later plan kills it when it has not stopped. */
  | {
      readonly type: 'terminateContainer';
      readonly id: string;
      readonly name: string;
      readonly why: string;
    }
  | { readonly type: 'killContainer'; readonly id: string; readonly name: string }
  | { readonly type: 'removeContainer'; readonly id: string }
  /** Removes the pod's directory and volumes. */
  | { readonly type: 'removePodFiles' }
  /** Tells the API server that nothing is left, so that the object may go. */
  | { readonly type: 'confirmDeletion' };

export interface PodPlan {
  /** Carried out in order; starts may overlap each other. */
  readonly actions: readonly PodAction[];
  /** Milliseconds until time alone makes another plan due. */
  readonly requeueAfter: number | undefined;
}
