/**
 * Reports the changes of the objects of one trigger, from a resourceVersion on. It watches with the trigger's
 * account, so objects that the account may not watch are not reported. A change counts as reported when its
 * event is stored.
 */

import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { isExpired, isForbidden } from '../../../apimachinery/status-error.ts';
import { Backoff } from '../../../base/backoff.ts';
import { type Clock, sleep } from '../../../base/clock.ts';
import { keepDoing } from '../../../base/keep-doing.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Client, ClientListOptions, WatchEvent } from '../../../client/client.ts';
import { notAfter } from '../../../client/resource-version.ts';
import type { Trigger } from '../api/trigger.ts';
import type { Happening } from '../api/trigger-event-draft.ts';
import { changedSince, namespaceOf, reportedChange } from './object-plan.ts';
import { isOwn } from './own-objects-plan.ts';
import type { Progress } from './source.ts';
import type { Problem } from './status-plan.ts';

/**
 * Seconds after which a watch ends and another one begins; the account's rights are checked at each
 * beginning.
 */
const watchSeconds = 60;
/** Milliseconds after which a watch that was not rejected counts as established. */
const begunMs = 1000;
const pageSize = 500;

export interface ObjectSourceOptions {
  readonly trigger: Trigger;
  readonly definition: ResourceDefinition;
  readonly resourceVersion: string;
  /** Time of that resourceVersion, in milliseconds. */
  readonly at: number;
  /** Client with the trigger's account. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly isFull: () => boolean;
  readonly room: (signal: AbortSignal) => Promise<void>;
  /** Resolves when the event is stored or need not be stored. */
  readonly store: (happening: Happening) => Promise<void>;
  /** Called when a public field of the source has changed. */
  readonly onChange: () => void;
}

export class ObjectSource implements Progress {
  readonly #options: ObjectSourceOptions;
  readonly #stop = new AbortController();
  readonly #query: ClientListOptions;
  /** The resourceVersion up to which every change has been reported. */
  resourceVersion: string;
  at: number;
  /** True if a change was reported since this was set to false. */
  hasReported = false;
  problem: Problem | undefined;
  missed: string | undefined;

  constructor(options: ObjectSourceOptions, signal: AbortSignal) {
    this.#options = options;
    this.resourceVersion = options.resourceVersion;
    this.at = options.at;
    const { labelSelector, fieldSelector } = this.#source;
    this.#query = {
      namespace: namespaceOf(this.#source, options.trigger.metadata.namespace ?? '', options.definition),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
    void this.#run(AbortSignal.any([signal, this.#stop.signal]));
  }

  stop(): void {
    this.#stop.abort();
  }

  get #source() {
    return this.#options.trigger.spec.object as NonNullable<Trigger['spec']['object']>;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000 }, random);
    /** True if the history was lost and no event has arrived since. */
    let isLost = false;
    const onEvent = () => {
      isLost = false;
      backoff.reset();
    };
    const onError = (error: unknown) => this.#setProblem(problemOf(error));
    const turns = { restMs: 0, backoff, keepsBackoff: true, onError };
    await keepDoing({ clock, signal, ...turns }, async () => {
      try {
        await this.#follow(signal, onEvent);
      } catch (error) {
        if (signal.aborted || !isExpired(error)) throw error;
        if (isLost) await sleep(clock, backoff.next(), signal);
        isLost = true;
        await this.#catchUp(signal);
      }
    });
  }

  /** Runs one watch until it ends or there is no room for further events. */
  async #follow(signal: AbortSignal, onEvent: () => void): Promise<void> {
    const { client, definition, clock } = this.#options;
    await this.#whenRoom(signal);
    const ended = new AbortController();
    const stream = client.resource(definition).watch({
      ...this.#query,
      resourceVersion: this.resourceVersion,
      timeoutSeconds: watchSeconds,
      signal: AbortSignal.any([signal, ended.signal]),
    });
    // A watch that is rejected, or cannot continue from the resourceVersion, ends before this timer fires.
    const begun = clock.after(begunMs, () => this.#setProblem(undefined));
    try {
      for await (const event of stream) {
        onEvent();
        if (event.type !== 'BOOKMARK') await this.#report(event, rfc3339(clock.now()));
        this.#recordedUpTo(event.object.metadata.resourceVersion);
        if (this.#options.isFull()) return;
      }
    } finally {
      begun.cancel();
      ended.abort();
    }
  }

  async #report(event: Exclude<WatchEvent<KubeObject>, { type: 'BOOKMARK' }>, time: string): Promise<void> {
    const { store, definition, trigger } = this.#options;
    if (isOwn(trigger, this.#source, event.object)) return;
    const happening = reportedChange(this.#source, definition.plural, event.type, event.object, time);
    if (happening) await this.#store(store, happening);
  }

  async #store(store: ObjectSourceOptions['store'], happening: Happening): Promise<void> {
    await store(happening);
    this.hasReported = true;
  }

  /** Recovers from a lost history: reports the current state of changed objects, but not deletions. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const { client, definition, clock, store, onChange, trigger } = this.#options;
    const now = clock.now();
    const [from, since, time] = [this.resourceVersion, this.at, rfc3339(now)];
    const objects: KubeObject[] = [];
    let page = await client.resource(definition).list({ ...this.#query, limit: pageSize, signal });
    objects.push(...page.items);
    while (page.metadata.continue) {
      page = await client
        .resource(definition)
        .list({ ...this.#query, limit: pageSize, continue: page.metadata.continue, signal });
      objects.push(...page.items);
    }
    const others = objects.filter((object) => !isOwn(trigger, this.#source, object));
    this.missed =
      `the history of changes from ${rfc3339(since)} to ${time} is lost: deleted objects are not reported, ` +
      'and each other changed object is reported only in its last state';
    for (const { resourceVersion, happening } of changedSince(this.#source, definition.plural, others, {
      from,
      since,
      time,
    })) {
      await this.#whenRoom(signal);
      if (happening) await this.#store(store, happening);
      // `at` remains the time of the last complete state, so that new objects are recognized as new.
      this.resourceVersion = resourceVersion;
    }
    this.#recordedUpTo(page.metadata.resourceVersion);
    onChange();
  }

  async #whenRoom(signal: AbortSignal): Promise<void> {
    const { isFull, room, onChange } = this.#options;
    if (!isFull()) return;
    const waiting = room(signal);
    onChange();
    await waiting;
    onChange();
  }

  #recordedUpTo(resourceVersion: string | undefined): void {
    if (!resourceVersion || notAfter(resourceVersion, this.resourceVersion)) return;
    this.resourceVersion = resourceVersion;
    this.at = this.#options.clock.now();
    this.#options.onChange();
  }

  #setProblem(problem: Problem | undefined): void {
    if (this.problem?.message === problem?.message) return;
    this.problem = problem;
    this.#options.onChange();
  }
}

const problemOf = (error: unknown): Problem =>
  isForbidden(error)
    ? { reason: 'NotAllowed', message: errorMessage(error) }
    : { reason: 'WatchFailed', message: `the objects cannot be watched: ${errorMessage(error)}` };
