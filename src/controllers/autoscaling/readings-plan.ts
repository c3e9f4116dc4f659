/** Converts Prometheus' answers about a metric to amounts in thousandths. Pure. */
import { MetricFailure, type PodUse } from './replicas-plan.ts';

/** One series of an answer. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Value of the series; may be NaN or infinite. */
  readonly value: number;
}

/** Maximum of a quantity, in thousandths. */
const most = Number(2n ** 63n - 1n);

const thousandths = (value: number) => Math.min(most, Math.max(-most, Math.trunc(value * 1000)));

/** Returns the usage by the pod's name. Values that are not numbers are ignored. Throws MetricFailure. */
export function usesFrom(series: readonly Series[], podLabel: string, now: number): Map<string, PodUse> {
  const uses = new Map<string, PodUse>();
  const unknown = new Set<string>();
  for (const { labels, value } of series) {
    const pod = Object.hasOwn(labels, podLabel) ? labels[podLabel] : undefined;
    if (pod === undefined)
      throw new MetricFailure(
        `its query must answer with the label ${podLabel}, such as sum by (${podLabel}) (…)`,
      );
    if (!Number.isFinite(value)) unknown.add(pod);
    const before = uses.get(pod)?.value ?? 0;
    uses.set(pod, { value: before + thousandths(value), at: now, windowMs: 0 });
  }
  for (const pod of unknown) uses.delete(pod);
  return uses;
}

/**
 * Returns the sum of all series, or undefined if there are none. Throws MetricFailure if a value is not a
 * number.
 */
export function sumOf(series: readonly Series[]): number | undefined {
  if (series.length === 0) return undefined;
  const sum = series.reduce((total, { value }) => total + value, 0);
  if (!Number.isFinite(sum)) throw new MetricFailure(`its value is ${sum}`);
  return thousandths(sum);
}
