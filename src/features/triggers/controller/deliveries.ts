/**
 * Runs the deliveries. Each ends with the deletion of its event, or with a status that states the failure.
 */

import { type ObjectKey, objectKey, splitKey } from '../../../apimachinery/meta.ts';
import { isConflict, isNotFound } from '../../../apimachinery/status-error.ts';
import { Backoff } from '../../../base/backoff.ts';
import { roomFor } from '../../../base/fair-share.ts';
import { retry } from '../../../base/keep-doing.ts';
import { errorMessage } from '../../../base/log.ts';
import { rfc3339 } from '../../../base/time.ts';
import { notAfter } from '../../../client/resource-version.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import type { Trigger } from '../api/trigger.ts';
import { type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { afterFailure, type Failure, whyNotTried } from './delivery-plan.ts';
import { type Counts, noCounts } from './status-plan.ts';

/** Maximum number of concurrent deliveries of all triggers. A single namespace gets fewer. */
export const maxInAll = 100;

/** Delivers one event. Resolves to undefined if the target accepted the event, and to a failure otherwise. */
export type Deliver = (
  trigger: Trigger,
  event: TriggerEvent,
  signal: AbortSignal,
) => Promise<Failure | undefined>;

export interface DeliveriesOptions
  extends Pick<ControllerContext, 'client' | 'clock' | 'random' | 'log' | 'events'> {
  readonly deliver: Deliver;
  /** Called with triggers that have ended a delivery or may begin one. */
  readonly onChange: (triggers: readonly ObjectKey[]) => void;
}

/**
 * Condition for using the cached state of an event: the cache shows this version, or the deletion of the
 * object.
 */
type Expected = { readonly uid: string; readonly resourceVersion: string | undefined };

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #underWay = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #expected = new Map<ObjectKey, Expected>();
  readonly #counts = new Map<ObjectKey, Counts>();
  /** Triggers that wait for a free slot, in order of arrival. */
  readonly #waiting = new Set<ObjectKey>();
  #count = 0;
  /** Number of running deliveries by namespace. */
  readonly #own = new Map<string, number>();

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Returns how many more deliveries may begin in the namespace of this trigger. */
  roomFor(trigger: ObjectKey): number {
    return roomFor(maxInAll, this.#count, this.#own.get(splitKey(trigger).namespace) ?? 0);
  }

  underWay(trigger: ObjectKey): number {
    return this.#underWay.get(trigger)?.size ?? 0;
  }

  /** Registers a trigger that waits for a free slot. */
  wait(trigger: ObjectKey): void {
    this.#waiting.add(trigger);
  }

  /** Returns true if the event is being delivered, or if the cache does not show the last write to it yet. */
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

  /** Forgets an event that the cache no longer shows. */
  gone(event: TriggerEvent): void {
    if (this.#expected.get(objectKey(event))?.uid === event.metadata.uid)
      this.#expected.delete(objectKey(event));
  }

  counts(trigger: ObjectKey): Counts {
    return this.#counts.getOrInsertComputed(trigger, noCounts);
  }

  /** Subtracts counts that have been written to the status. */
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

  /** Deletes one of the oldest dead letters beyond the limit. */
  async discard(trigger: Trigger, event: TriggerEvent): Promise<void> {
    if (await this.#remove(event)) this.counts(objectKey(trigger)).discarded += 1;
  }

  async #deliver(key: ObjectKey, trigger: Trigger, event: TriggerEvent, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const failure = await this.#try(trigger, event, signal);
    const backoff = new Backoff({ initialMs: 200, maxMs: 10_000 }, random);
    // Writing is retried, so that the outcome is not lost if it cannot be written at once.
    const onError = (error: unknown) =>
      log.warn('the outcome of a delivery cannot be written; trying again', {
        event: objectKey(event),
        error: errorMessage(error),
      });
    await retry({ clock, signal, backoff, onError }, () => this.#settle(key, trigger, event, failure));
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

  /** Deletes the event. Returns true if this call deleted it. */
  async #remove(event: TriggerEvent): Promise<boolean> {
    const { name, namespace, uid } = event.metadata;
    // Recorded before the request, because the cache may show the deletion before the answer arrives.
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
   * Returns undefined if the event is gone or was replaced under its name. Rejects after too many conflicts.
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
