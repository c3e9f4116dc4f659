/** The values of the overview's charts since the app was opened. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { type Counted, emptySeries, rateOf, type Series, withSample } from '../../charts/plan/series.ts';
import { nodeMetrics, type Sampled, serverMetrics } from '../../charts/sampler.ts';
import { requestCounts, totalUse } from './plan/cluster-use.ts';

const keptMs = 15 * 60_000;

export interface Recorded {
  readonly series: Series;
  readonly refused: boolean;
}

/** Returns the series of a sampled signal; it grows while something subscribes to it. */
function recorded(
  source: ReadonlySignal<Sampled>,
  lines: number,
  valuesOf: (items: readonly JsonObject[], atMs: number) => readonly (number | null)[],
): ReadonlySignal<Recorded> {
  let stop: (() => void) | undefined;
  const series = signal(emptySeries(lines), {
    watched() {
      stop = effect(() => {
        const { atMs, items, refused } = source.value;
        if (atMs > 0 && !refused && atMs !== series.peek().times.at(-1))
          series.value = withSample(series.peek(), atMs, valuesOf(items, atMs), keptMs);
      });
    },
    unwatched: () => stop?.(),
  });
  return computed(() => ({ series: series.value, refused: source.value.refused }));
}

/** Thousandths of processors, and bytes. */
export const use = recorded(nodeMetrics, 2, (items) => {
  // No node has answered yet.
  if (items.length === 0) return [null, null];
  const { cpu, memory } = totalUse({ items });
  return [cpu, memory];
});

let before: { readonly total: Counted; readonly failed: Counted } | undefined;

/** Requests of the master that answers in a second: all, and those that it could not serve. */
export const requests = recorded(serverMetrics, 2, (items, atMs) => {
  const { total, failed } = requestCounts(items);
  const counted = { total: { atMs, total }, failed: { atMs, total: failed } };
  const rates = [rateOf(before?.total, counted.total), rateOf(before?.failed, counted.failed)];
  before = counted;
  return rates;
});
