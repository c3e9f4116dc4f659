/** Waits for the ends of runs, with one watch for all waiting calls. */

import { storageKey, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Cache } from '../../../storage/cache.ts';
import { hasEnded, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';

const prefix = storagePrefix(workflowRunResource);

type Waiting = (run: WorkflowRun | undefined) => void;

export class RunEnds {
  readonly #cache: Cache;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<Waiting>>();
  #endWatch: (() => void) | undefined;

  constructor(cache: Cache, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
  }

  /**
   * Returns the run once it has ended; undefined after `ms` milliseconds, if the run is deleted, and if the
   * signal aborts.
   */
  async of(run: WorkflowRun, ms: number, signal: AbortSignal): Promise<WorkflowRun | undefined> {
    const { name, namespace = '', resourceVersion } = run.metadata;
    await this.#cache.waitUntil(Number(resourceVersion), signal);
    const key = storageKey(workflowRunResource, namespace, name);
    const { promise, resolve } = Promise.withResolvers<WorkflowRun | undefined>();
    const own = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, own.add(resolve));
    const timer = this.#clock.after(ms, () => resolve(undefined));
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    this.#endWatch ??= this.#watch();
    this.#look(key);
    try {
      return await promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', abort);
      own.delete(resolve);
      if (own.size === 0 && this.#waiting.get(key) === own) this.#waiting.delete(key);
      if (this.#waiting.size === 0) {
        this.#endWatch?.();
        this.#endWatch = undefined;
      }
    }
  }

  #look(key: string): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    const run = this.#cache.get(key)?.object as WorkflowRun | undefined;
    if (run && !hasEnded(run)) return;
    for (const resolve of waiting) resolve(run);
  }

  #watch(): () => void {
    let end: () => void = () => undefined;
    const begin = () => {
      end = this.#cache.watch(prefix, this.#cache.revision, {
        onEvents: (events) => {
          for (const { key } of events) this.#look(key);
        },
        onExpired: () => {
          begin();
          for (const key of this.#waiting.keys()) this.#look(key);
        },
      });
    };
    begin();
    return () => end();
  }
}
