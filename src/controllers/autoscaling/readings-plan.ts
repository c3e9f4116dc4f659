/** What Prometheus answers about a metric, as amounts in thousandths. Pure. */
import { MetricFailure, type PodUse } from './replicas-plan.ts';

/** One line of an answer. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** May be NaN or infinite. */
  readonly value: number;
}

/** The most that a quantity holds, in thousandths. */
const most = Number(2n ** 63n - 1n);

const thousandths = (value: number) => Math.min(most, Math.max(-most, Math.trunc(value * 1000)));

/** By the pod's name. A value that is no number says nothing of its pod. Throws MetricFailure. */
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

/** The sum of all lines; undefined when there are none. Throws MetricFailure where one of them is no number. */
export function sumOf(series: readonly Series[]): number | undefined {
  if (series.length === 0) return undefined;
  const sum = series.reduce((total, { value }) => total + value, 0);
  if (!Number.isFinite(sum)) throw new MetricFailure(`its value is ${sum}`);
  return thousandths(sum);
}
