/** The deliveries that are under way. Each ends with its event deleted, or with a status that says why not. */
import type { Trigger } from '../../api/minik8s/v1/trigger.ts';
import { type TriggerEvent, triggerEventResource } from '../../api/minik8s/v1/trigger-event.ts';
import { type ObjectKey, objectKey, splitKey } from '../../apimachinery/meta.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { Backoff } from '../../base/backoff.ts';
import { sleep } from '../../base/clock.ts';
import { roomFor } from '../../base/fair-share.ts';
import { errorMessage } from '../../base/log.ts';
import { rfc3339 } from '../../base/time.ts';
import { notAfter } from '../../client/resource-version.ts';
import type { ControllerContext } from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { afterFailure, type Failure, whyNotTried } from './delivery-plan.ts';
import { type Counts, noCounts } from './status-plan.ts';

/** How many are under way at once, of all triggers together. No namespace has all of them. */
export const mostInAll = 100;

/** Resolves to undefined when the target has taken the event, and to a failure otherwise. */
export type Deliver = (
  trigger: Trigger,
  event: TriggerEvent,
  signal: AbortSignal,
) => Promise<Failure | undefined>;

export interface DeliveriesOptions
  extends Pick<ControllerContext, 'client' | 'clock' | 'random' | 'log' | 'events'> {
  readonly deliver: Deliver;
  /** One of these triggers has ended a delivery, or may begin one. */
  readonly onChange: (triggers: readonly ObjectKey[]) => void;
}

/** What the cache has to show before it is relied on: this version, or that the object is gone. */
type Expected = { readonly uid: string; readonly resourceVersion: string | undefined };

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #underWay = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #expected = new Map<ObjectKey, Expected>();
  readonly #counts = new Map<ObjectKey, Counts>();
  /** Triggers that wait for a free place, the first come first. */
  readonly #waiting = new Set<ObjectKey>();
  #count = 0;
  /** By namespace: how many are under way. */
  readonly #own = new Map<string, number>();

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** How many more may be begun of triggers of the namespace of this one. */
  roomFor(trigger: ObjectKey): number {
    return roomFor(mostInAll, this.#count, this.#own.get(splitKey(trigger).namespace) ?? 0);
  }

  underWay(trigger: ObjectKey): number {
    return this.#underWay.get(trigger)?.size ?? 0;
  }

  /** Told when there is a free place. */
  wait(trigger: ObjectKey): void {
    this.#waiting.add(trigger);
  }

  /** Whether it is being delivered, or what the cache shows of it is not yet what was written. */
  isBusy(trigger: ObjectKey, event: TriggerEvent): boolean {
    const key = objectKey(event);
    if (this.#underWay.get(trigger)?.has(key)) return true;
    const expected = this.#expected.get(key);
    if (!expected) return false;
    const { uid, resourceVersion } = event.metadata;
    const isOld =
      uid === expected.uid &&
      (expected.resourceVersion === undefined ||
        (resourceVersion !== expected.resourceVersion &&
          notAfter(resourceVersion, expected.resourceVersion)));
    if (!isOld) this.#expected.delete(key);
    return isOld;
  }

  /** The cache shows it no more. */
  gone(event: TriggerEvent): void {
    if (this.#expected.get(objectKey(event))?.uid === event.metadata.uid)
      this.#expected.delete(objectKey(event));
  }

  counts(trigger: ObjectKey): Counts {
    return this.#counts.getOrInsertComputed(trigger, noCounts);
  }

  /** What was counted has been written. */
  written(trigger: ObjectKey, counts: Counts): void {
    const now = this.counts(trigger);
    for (const name of ['delivered', 'failed', 'discarded'] as const) now[name] -= counts[name];
  }

  forget(trigger: ObjectKey): void {
    this.#counts.delete(trigger);
    this.#waiting.delete(trigger);
  }

  begin(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): void {
    const key = objectKey(trigger);
    const own = this.#underWay.getOrInsertComputed(key, () => new Set());
    own.add(objectKey(event));
    this.#counted(key, 1);
    void this.#deliver(key, trigger, event, signal).finally(() => {
      own.delete(objectKey(event));
      if (own.size === 0 && this.#underWay.get(key) === own) this.#underWay.delete(key);
      this.#counted(key, -1);
      const next = [...this.#waiting].find((one) => this.roomFor(one) > 0);
      if (next !== undefined) this.#waiting.delete(next);
      this.#options.onChange([key, ...(next === undefined ? [] : [next])]);
    });
  }

  #counted(trigger: ObjectKey, more: number): void {
    const { namespace } = splitKey(trigger);
    this.#count += more;
    const own = (this.#own.get(namespace) ?? 0) + more;
    if (own > 0) this.#own.set(namespace, own);
    else this.#own.delete(namespace);
  }

  /** Dead letters beyond the limit, the oldest. */
  async discard(trigger: Trigger, event: TriggerEvent): Promise<void> {
    if (await this.#remove(event)) this.counts(objectKey(trigger)).discarded += 1;
  }

  async #deliver(key: ObjectKey, trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const failure = await this.#try(trigger, event, signal);
    const backoff = new Backoff({ initialMs: 200, maxMs: 10_000 }, random);
    // What came of it is not forgotten because it cannot be written at once.
    while (!signal.aborted) {
      try {
        return await this.#settle(key, trigger, event, failure);
      } catch (error) {
        if (signal.aborted) return;
        log.warn('what came of a delivery cannot be written; trying again', {
          event: objectKey(event),
          error: errorMessage(error),
        });
        await sleep(clock, backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  async #try(trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<Failure | undefined> {
    const why = whyNotTried(event);
    if (why !== undefined) return { error: why, isFinal: true };
    try {
      return await this.#options.deliver(trigger, event, signal);
    } catch (error) {
      return { error: errorMessage(error) };
    }
  }

  async #settle(
    key: ObjectKey,
    trigger: Trigger,
    event: TriggerEvent,
    failure: Failure | undefined,
  ): Promise<void> {
    const { client, clock, random, events } = this.#options;
    const counts = this.counts(key);
    if (!failure) {
      if (!(await this.#remove(event))) return;
      counts.delivered += 1;
      counts.lastTime = rfc3339(clock.now());
      return;
    }
    const { name, namespace = '', uid } = event.metadata;
    const status = afterFailure(trigger, event, failure, clock.now(), random.next());
    const whole = { nextTime: null, failedTime: null, lastStatus: null, ...status };
    const body = { metadata: { uid }, status: whole };
    const written = await this.#unlessGone(
      event,
      client.resource(triggerEventResource).patch(name, namespace, 'merge', body, 'status'),
    );
    if (!written) return;
    this.#expected.set(objectKey(event), { uid, resourceVersion: written.metadata.resourceVersion });
    if (status.phase !== 'Failed') return;
    counts.failed += 1;
    const message = `TriggerEvent ${name} is a dead letter after ${status.attempts} attempts: ${status.lastError}`;
    events.event(trigger, 'Warning', 'DeadLetter', message);
  }

  /** Whether it was this that removed it. */
  async #remove(event: TriggerEvent): Promise<boolean> {
    const { name, namespace, uid } = event.metadata;
    // Before: the cache may show its end before the answer comes.
    this.#expected.set(objectKey(event), { uid, resourceVersion: undefined });
    const options = { preconditions: { uid } };
    const removal = this.#options.client.resource(triggerEventResource).delete(name, namespace, options);
    return (
      (await this.#unlessGone(
        event,
        removal.then(() => true),
      )) ?? false
    );
  }

  /**
   * Undefined where the event is gone, or another one has its name; rejects where too many others write it.
   */
  async #unlessGone<T>({ metadata }: TriggerEvent, write: Promise<T>): Promise<T | undefined> {
    const { name, namespace, uid } = metadata;
    try {
      return await write;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error)) throw error;
      const there = await ifPresent(this.#options.client.resource(triggerEventResource).get(name, namespace));
      if (there?.metadata.uid === uid) throw error;
      return undefined;
    }
  }
}
