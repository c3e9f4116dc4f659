/** Results of a container's probes, and the states that follow from them (pkg/kubelet/prober). */
import type { Container, Probe } from '../../../api/core/v1/types.gen.ts';
import { timingOf } from './probe-timing.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** Results by kind, true for success; a missing kind is not decided yet. */
export type ProbeResults = { readonly [K in ProbeKind]?: boolean };

/** Results by container id. */
export type PodProbeResults = ReadonlyMap<string, ProbeResults>;

type Probes = Pick<Container, 'startupProbe' | 'livenessProbe' | 'readinessProbe'>;

/**
 * Returns true when a running container has started; a container without a startup probe has always started.
 */
export const hasStarted = ({ startupProbe }: Probes, { startup = false }: ProbeResults = {}): boolean =>
  startupProbe === undefined || startup;

/** Returns true when a started container is ready; a container without a readiness probe is always ready. */
export const isReady = ({ readinessProbe }: Probes, { readiness = false }: ProbeResults = {}): boolean =>
  readinessProbe === undefined || readiness;

/** Returns the failed probe for which the container must be stopped; undefined for none. */
export function failedProbe({ startup, liveness }: ProbeResults = {}): 'startup' | 'liveness' | undefined {
  if (liveness === false) return 'liveness';
  return startup === false ? 'startup' : undefined;
}

/** Consecutive equal results. */
export interface Series {
  readonly succeeded: boolean;
  readonly count: number;
}

export interface Counted {
  readonly series: Series;
  /** Undefined when there were not enough consecutive results to decide. */
  readonly decided: boolean | undefined;
}

export function count(before: Series | undefined, succeeded: boolean, probe: Probe): Counted {
  const { successThreshold, failureThreshold } = timingOf(probe);
  const series = { succeeded, count: before?.succeeded === succeeded ? before.count + 1 : 1 };
  const enough = succeeded ? successThreshold : failureThreshold;
  return { series, decided: series.count >= enough ? succeeded : undefined };
}
