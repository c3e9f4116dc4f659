/** In which order pods end when their node goes down, and how long each may take (pkg/kubelet/nodeshutdown). */
import { graceSecondsOf } from '../../../api/core/v1/grace.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import type { PodEnd } from '../../pods/plan/actions.ts';
import { isCritical } from './eviction-order.ts';

export interface ShutdownPeriods {
  /** For all of it, in milliseconds. */
  readonly totalMs: number;
  /** The part of it that is kept for critical pods, which end last. */
  readonly criticalMs: number;
}

export interface ShutdownPhase {
  readonly periodMs: number;
  readonly pods: readonly { readonly uid: string; readonly end: PodEnd }[];
}

/**
 * What it takes at most to kill what did not end by itself and to say so, out of a phase's own time; half of a short
 * one.
 */
const reportMs = 2_000;

export const shutdownMessage = 'Pod was terminated in response to imminent node shutdown.';

/** Phases without pods take no time and are left out. */
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
