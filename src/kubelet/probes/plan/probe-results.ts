/** What the probes of a container have decided, and what follows from it (pkg/kubelet/prober). */
import type { Container, Probe } from '../../../api/core/v1/types.gen.ts';
import { timingOf } from './probe-timing.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** By kind, true for success; what is not there is not decided yet. */
export type ProbeResults = { readonly [K in ProbeKind]?: boolean };

/** By the id of the container. */
export type PodProbeResults = ReadonlyMap<string, ProbeResults>;

type Probes = Pick<Container, 'startupProbe' | 'livenessProbe' | 'readinessProbe'>;

/** Of a container that runs: without a startup probe it has started. */
export const hasStarted = ({ startupProbe }: Probes, { startup = false }: ProbeResults = {}): boolean =>
  startupProbe === undefined || startup;

/** Of a container that has started: without a readiness probe it is ready. */
export const isReady = ({ readinessProbe }: Probes, { readiness = false }: ProbeResults = {}): boolean =>
  readinessProbe === undefined || readiness;

/** The probe for which the container has to end. */
export function failedProbe({ startup, liveness }: ProbeResults = {}): 'startup' | 'liveness' | undefined {
  if (liveness === false) return 'liveness';
  return startup === false ? 'startup' : undefined;
}

/** Results in a row that were the same. */
export interface Series {
  readonly succeeded: boolean;
  readonly count: number;
}

export interface Counted {
  readonly series: Series;
  /** Undefined: not often enough in a row to decide anything. */
  readonly decided: boolean | undefined;
}

export function count(before: Series | undefined, succeeded: boolean, probe: Probe): Counted {
  const { successThreshold, failureThreshold } = timingOf(probe);
  const series = { succeeded, count: before?.succeeded === succeeded ? before.count + 1 : 1 };
  const enough = succeeded ? successThreshold : failureThreshold;
  return { series, decided: series.count >= enough ? succeeded : undefined };
}
