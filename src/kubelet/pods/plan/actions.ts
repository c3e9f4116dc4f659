/**
 * Types that connect planning and execution: the state of a pod on this node, and the actions that can be
 * taken for it.
 */

import type { StartContainer, StartFailureReason } from '../../containers/plan/start.ts';
import type { PodProbeResults } from '../../probes/plan/probe-results.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import type { VolumeState } from '../../volumes/plan/volume-state.ts';
import type { EngineAbilities } from './held-pod.ts';
import type { HookMemory, RunHook } from './hooks.ts';

/** A failed operation, and when it is retried. */
export interface Failure<R extends string = string> {
  readonly reason: R;
  readonly message: string;
  /** Consecutive failures, at least 1. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly failedAt: number;
  readonly retryAt: number;
}

/** A failed start of a container, with the hash of its definition at that time. */
export interface StartFailure extends Failure<StartFailureReason> {
  /** Name of the missing image, if that is the cause. */
  readonly image?: string | undefined;
  readonly specHash: string;
}

/** Reason in the status of a pod that was evicted. */
export const evictedReason = 'Evicted';

/**
 * The node's decision to end a pod for good: it does not fit, the node is short of a resource, or it shuts
 * down.
 */
export interface PodEnd {
  /** Reason in the pod's status, such as `Evicted`. */
  readonly reason: string;
  readonly message: string;
  /** Undefined for the pod's own grace period. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Set for an eviction: the resource that was short, as the kubelet's metrics name it. */
  readonly signal?: string;
  /** True when the cause is not the pod itself: the pod gets the condition DisruptionTarget. */
  readonly disruption: boolean;
}

/**
 * State of a pod that the agent keeps in addition to the engine's; losing it costs time but never
 * correctness.
 */
export interface PodMemory extends EngineAbilities, HookMemory {
  /** Failed starts by container name. */
  readonly startFailures: ReadonlyMap<string, StartFailure>;
  readonly sandboxFailure: Failure | undefined;
  /** State of each volume that the pod's containers mount. */
  readonly volumes: readonly VolumeState[];
  /**
   * Time at which the stop of a container began, by container id; only for containers whose stop signal must
   * wait for a hook or for other containers.
   */
  readonly stopBegan: ReadonlyMap<string, number>;
  /** Time at which a container's stop signal was sent, by container id. */
  readonly stopping: ReadonlyMap<string, number>;
  /** Results of each container's probes. */
  readonly probes: PodProbeResults;
  /** Termination messages by container id. */
  readonly terminationMessages: ReadonlyMap<string, string>;
  /** True when nothing is left of a deleted pod and the API server has been informed, if it had the pod. */
  readonly reportedGone: boolean;
  /**
   * True when the API server has the pod's final status: from then on nothing of the pod on this node is
   * needed to report its end.
   */
  readonly endIsKnown: boolean;
  /** True when the pod's volumes have been removed. */
  readonly volumesRemoved: boolean;
  /** Set once this node has decided to end the pod. */
  readonly end?: PodEnd | undefined;
  /** State of a resize that is not complete. */
  readonly resize?: ResizeMemory | undefined;
}

/** A resize that the node does not grant: not now, or never. */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
}

export interface ResizeMemory {
  readonly pending?: PendingResize | undefined;
  /** A resize that was granted, but could not be applied to a container. */
  readonly failure?: { readonly message: string; readonly retryAt: number } | undefined;
}

/** A stop of a container; the first one emits an event. */
interface AnnouncedStop {
  readonly id: string;
  readonly name: string;
  readonly why: string;
  /** Message of the event; default: the container's name and `why`. */
  readonly message?: string;
}

export type PodAction =
  /** Runs the steps that are due for the pod's volumes. */
  | { readonly type: 'mountVolumes' }
  | { readonly type: 'createSandbox'; readonly attempt: number }
  | { readonly type: 'removeSandbox'; readonly id: string }
  | StartContainer
  /** Starts the hook; a later plan sees its result. */
  | RunHook
  /** Starts the grace period; a later plan sends the stop signal. */
  | ({ readonly type: 'beginStop' } & AnnouncedStop)
  /** Sends the container's stop signal; a later plan kills the container when it has not stopped. */
  | ({ readonly type: 'terminateContainer' } & AnnouncedStop)
  | {
      readonly type: 'resizeContainer';
      readonly id: string;
      readonly name: string;
      readonly resources: ContainerResources;
    }
  | { readonly type: 'killContainer'; readonly id: string; readonly name: string }
  | { readonly type: 'removeContainer'; readonly id: string }
  /** Removes the volumes of a pod that has ended; its other files stay. */
  | { readonly type: 'removeVolumes' }
  /** Removes the pod's directory and volumes. */
  | { readonly type: 'removePodFiles' }
  /** Reports to the API server that nothing of the pod is left, so that the object can be removed. */
  | { readonly type: 'confirmDeletion' };

export interface PodPlan {
  /** Executed in order; starts may overlap each other. */
  readonly actions: readonly PodAction[];
  /** Milliseconds until another plan is due even if nothing changes; undefined for never. */
  readonly requeueAfter: number | undefined;
}
