/** The vocabulary between deciding and doing: what is known of a pod on this node, and what can be done to it. */

import type { StartContainer, StartFailureReason } from '../../containers/plan/start.ts';
import type { PodProbeResults } from '../../probes/plan/probe-results.ts';
import type { ContainerResources } from '../../runtime/runtime.ts';
import type { VolumeState } from '../../volumes/plan/volume-state.ts';
import type { EngineAbilities } from './held-pod.ts';
import type { HookKey, HookState, RunHook } from './hooks.ts';

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

/** Of a container, as it was defined then. */
export interface StartFailure extends Failure<StartFailureReason> {
  /** That there is not, if that is why. */
  readonly image?: string | undefined;
  readonly specHash: string;
}

/** The reason of a pod that was ended because the node needs its room. */
export const evictedReason = 'Evicted';

/** The node's own decision to end a pod for good: it does not fit, the node is short of something, or goes down. */
export interface PodEnd {
  /** Of the status, such as `Evicted`. */
  readonly reason: string;
  readonly message: string;
  /** Undefined: the pod's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Of an eviction: what there was too little of, as the kubelet's metrics call it. */
  readonly signal?: string;
  /** Set when something else than the pod itself is the cause: its condition DisruptionTarget. */
  readonly disruption: boolean;
}

/** What the agent remembers of a pod beside what the engine tells; losing it costs time, never correctness. */
export interface PodMemory extends EngineAbilities {
  /** By container name. */
  readonly startFailures: ReadonlyMap<string, StartFailure>;
  readonly sandboxFailure: Failure | undefined;
  /** Of the volumes that its containers mount, how each is now. */
  readonly volumes: readonly VolumeState[];
  /** Since when a container is to stop that has to wait before it is asked, by id. */
  readonly stopBegan: ReadonlyMap<string, number>;
  /** Of those that have begun. */
  readonly hooks: ReadonlyMap<HookKey, HookState>;
  /** When a container was asked to stop, by id. */
  readonly stopping: ReadonlyMap<string, number>;
  /** What the probes of each container have decided. */
  readonly probes: PodProbeResults;
  /** By container id. */
  readonly terminationMessages: ReadonlyMap<string, string>;
  /** Nothing is left of a pod in deletion, and the API server, if it had the pod, knows. */
  readonly reportedGone: boolean;
  /** The API server knows that the pod has ended: from here on nothing of it is needed to tell so. */
  readonly endIsKnown: boolean;
  /** Its volumes are gone. */
  readonly volumesRemoved: boolean;
  /** Set once this node has decided to end the pod. */
  readonly end?: PodEnd | undefined;
  /** What keeps the pod from what it asks for. */
  readonly resize?: ResizeMemory | undefined;
}

/** The node does not give the pod what it asks for: not now, or never. */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
}

export interface ResizeMemory {
  readonly pending?: PendingResize | undefined;
  /** It was given, but a container could not be brought to it. */
  readonly failure?: { readonly message: string; readonly retryAt: number } | undefined;
}

/** The first stop of a container is an event. */
interface ToldStop {
  readonly id: string;
  readonly name: string;
  readonly why: string;
  /** Of the event; default: that it is stopped, and why. */
  readonly message?: string;
}

export type PodAction =
  /** Does what is due for its volumes. */
  | { readonly type: 'mountVolumes' }
  | { readonly type: 'createSandbox'; readonly attempt: number }
  | { readonly type: 'removeSandbox'; readonly id: string }
  | StartContainer
  /** Begins it: a later plan finds what came of it. */
  | RunHook
  /** Counts its grace period from now on: it is asked to stop by a later plan. */
  | ({ readonly type: 'beginStop' } & ToldStop)
  /** Asks the container to stop; a later plan kills it when it has not stopped. */
  | ({ readonly type: 'terminateContainer' } & ToldStop)
  | {
      readonly type: 'resizeContainer';
      readonly id: string;
      readonly name: string;
      readonly resources: ContainerResources;
    }
  | { readonly type: 'killContainer'; readonly id: string; readonly name: string }
  | { readonly type: 'removeContainer'; readonly id: string }
  /** Of a pod that has ended, whose other files stay. */
  | { readonly type: 'removeVolumes' }
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
