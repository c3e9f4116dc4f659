/**
 * Metrics of probe runs: counts, results and durations of each probed container, while its pod is on this
 * node.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import {
  Counts,
  type Family,
  Histogram,
  type Labels,
  type Sample,
  usualBounds,
} from '../../base/metrics/exposition.ts';
import type { Result } from './plan/outcome.ts';
import type { ProbeKind } from './plan/probe-results.ts';

const types = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;
const results = {
  success: 'successful',
  warning: 'successful',
  failure: 'failed',
  unknown: 'unknown',
} as const;

export interface ProbeRun {
  readonly kind: ProbeKind;
  readonly container: string;
  readonly result: Result;
  readonly seconds: number;
}

interface OfPod {
  readonly runs: Counts;
  /** Durations by their labels; failed runs are not measured, as upstream. */
  readonly durations: Map<string, { readonly labels: Labels; readonly histogram: Histogram }>;
}

export class ProbeCounts {
  readonly #pods = new Map<string, OfPod>();

  count({ metadata }: Pod, { kind, container, result, seconds }: ProbeRun): void {
    const { uid, name, namespace = '' } = metadata;
    const counted = this.#pods.get(uid) ?? { runs: new Counts(), durations: new Map() };
    this.#pods.set(uid, counted);
    const labels = { probe_type: types[kind], container, pod: name, namespace };
    counted.runs.add({ ...labels, result: results[result], pod_uid: uid });
    if (result === 'failure') return;
    const key = `${kind}/${container}`;
    const durations = counted.durations.get(key) ?? { labels, histogram: new Histogram(usualBounds) };
    counted.durations.set(key, durations);
    durations.histogram.observe(seconds);
  }

  /** Removes the metrics of a pod that is no longer here. */
  forget(uid: string): void {
    this.#pods.delete(uid);
  }

  families(): readonly Family[] {
    const pods = [...this.#pods.values()];
    // The older of two pods with the same name is about to be removed.
    const durations = new Map<string, readonly Sample[]>();
    for (const one of pods) {
      for (const { labels, histogram } of one.durations.values())
        durations.set(JSON.stringify(labels), histogram.samples(labels));
    }
    return [
      {
        name: 'prober_probe_total',
        help: 'How often a probe of a container ran, by result.',
        type: 'counter',
        samples: pods.flatMap(({ runs }) => runs.samples()),
      },
      {
        name: 'prober_probe_duration_seconds',
        help: 'Seconds that a probe of a container took.',
        type: 'histogram',
        samples: [...durations.values()].flat(),
      },
    ];
  }
}
