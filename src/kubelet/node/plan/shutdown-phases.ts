/**
 * The order in which pods end when their node shuts down, and the time that each may take
 * (pkg/kubelet/nodeshutdown).
 */
import { graceSecondsOf } from '../../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodEnd } from '../../pods/plan/actions.ts';
import { isCritical } from './eviction-order.ts';

export interface ShutdownPeriods {
  /** Period of the whole shutdown, in milliseconds. */
  readonly totalMs: number;
  /** Part of the period that is reserved for critical pods, which end last. */
  readonly criticalMs: number;
}

export interface ShutdownPhase {
  readonly periodMs: number;
  readonly pods: readonly { readonly uid: string; readonly end: PodEnd }[];
}

/**
 * Maximum time to kill the containers that did not end by themselves and to report that. This time is part of
 * a phase's period, and at most half of it.
 */
const reportMs = 2_000;

export const shutdownMessage = 'Pod was terminated in response to imminent node shutdown.';

/** Returns the phases. A phase without pods takes no time and is left out. */
export function shutdownPhases(
  pods: readonly Pod[],
  { totalMs, criticalMs }: ShutdownPeriods,
): readonly ShutdownPhase[] {
  return [
    phaseOf(
      pods.filter((pod) => !isCritical(pod)),
      totalMs - criticalMs,
    ),
    phaseOf(pods.filter(isCritical), criticalMs),
  ].filter((phase) => phase.pods.length > 0);
}

function phaseOf(pods: readonly Pod[], periodMs: number): ShutdownPhase {
  const longest = Math.floor((periodMs - Math.min(reportMs, periodMs / 2)) / 1000);
  return {
    periodMs,
    pods: pods.map(({ metadata, spec }) => ({
      uid: metadata.uid,
      end: {
        reason: 'Terminated',
        message: shutdownMessage,
        gracePeriodSeconds: Math.min(graceSecondsOf(spec), longest),
        disruption: true,
      },
    })),
  };
}
