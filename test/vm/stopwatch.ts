/** Durations of a test's parts, which the run prints: the tables of docs have them. */
import type { TestContext } from 'node:test';

/** Returns a function that reports the time since its previous call, in seconds. */
export function stopwatch(context: Pick<TestContext, 'diagnostic'>): (what: string) => void {
  let since = performance.now();
  return (what) => {
    context.diagnostic(`${what}: ${((performance.now() - since) / 1000).toFixed(0)} s`);
    since = performance.now();
  };
}
