/**
 * Records reconciles as spans of the trace in which their object was written. Only reconciles that wrote
 * something are kept, with the time that the key had waited.
 */
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import { traceNoteOf } from '../apimachinery/trace-note.ts';
import type { Clock } from '../base/clock.ts';
import { during } from '../base/tracing/current-span.ts';
import type { Tracer } from '../base/tracing/span.ts';

/** Maximum number of keys whose time of enqueueing is recorded. */
const maxQueued = 10_000;

export class ReconcileTraces {
  readonly #tracer: Tracer;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #controller: string;
  readonly #since = new Map<ObjectKey, number>();

  constructor(tracer: Tracer, clock: Pick<Clock, 'monotonic'>, controller: string) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#controller = controller;
  }

  queued(keys: Iterable<ObjectKey>): void {
    const now = this.#clock.monotonic();
    for (const key of keys)
      if (!this.#since.has(key) && this.#since.size < maxQueued) this.#since.set(key, now);
  }

  /** Runs `work` in a span. `object` is the object of the key, if it exists. */
  during<T>(key: ObjectKey, object: KubeObject | undefined, work: () => Promise<T>): Promise<T> {
    const begun = this.#clock.monotonic();
    const since = this.#since.get(key) ?? begun;
    this.#since.delete(key);
    const parent = this.#tracer.follow(object && traceNoteOf(object));
    if (!parent || !object) return work();
    const isScheduler = this.#controller === 'scheduler';
    const span = this.#tracer.start(
      isScheduler ? 'scheduler' : 'controller-manager',
      isScheduler ? 'schedule' : `reconcile ${this.#controller}`,
      parent,
      {
        since,
        isTentative: true,
        attributes: { controller: this.#controller, kind: object.kind, key },
      },
    );
    span.child('queue', { since }).end(begun);
    return during(span, work);
  }
}
