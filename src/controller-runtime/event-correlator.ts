/**
 * Decides whether an occurrence becomes a new Event, a higher count on an existing Event, or nothing
 * (client-go tools/record/events_cache.go, with its numbers).
 *
 * - The same event again: its count is increased.
 * - More than ten different messages for one object and reason within ten minutes: one combined event.
 * - More than 25 events about one object at once, then more than one in five minutes: no event.
 */

import type { Event } from '../api/core/v1/event/event.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import { BoundedMap } from '../base/bounded-map.ts';
import { rfc3339 } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { TokenBuckets } from '../base/token-buckets.ts';

export interface Occurrence {
  readonly about: Event['involvedObject'];
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface EventSource {
  readonly component: string;
  readonly host?: string;
}

/**
 * An event to write. `repeated`: the event was written before, and only count, lastTimestamp and message
 * differ.
 */
export interface Correlated {
  readonly event: Event;
  readonly repeated: boolean;
}

const similarWithinMs = 600_000;
const maxSimilar = 10;
const burst = 25;
const refillMs = 300_000;
const maxRemembered = 4_096;
/** Maximum message length; the API rejects longer messages (events.k8s.io: note). */
const maxMessage = 1_024;
const maxName = 253;

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

export class EventCorrelator {
  readonly #source: EventSource;
  readonly #random: Random;
  readonly #similar = new BoundedMap<Similar>(maxRemembered);
  readonly #written = new BoundedMap<Event>(maxRemembered);
  readonly #buckets = new TokenBuckets({ burst, refillMs, keys: maxRemembered });

  constructor(source: EventSource, random: Random) {
    this.#source = source;
    this.#random = random;
  }

  /**
   * Returns the event to write, or undefined if there are too many similar events. The occurrence is counted
   * in both cases.
   */
  correlate(occurrence: Occurrence): Correlated | undefined {
    const { about, type, reason, at } = occurrence;
    const object = [about.kind, about.namespace, about.name, about.uid, about.apiVersion];
    const group = JSON.stringify([...object, type, reason]);
    const combined = this.#isCombined(group, occurrence);
    const message = combined ? `(combined from similar events): ${occurrence.message}` : occurrence.message;
    const id = combined ? group : JSON.stringify([...object, type, reason, about.fieldPath, message]);

    const before = this.#written.get(id);
    const event = before ? again(before, message, at) : this.#first({ ...occurrence, message });
    this.#written.set(id, event);
    if (this.#buckets.take(JSON.stringify(object), at) > 0) return undefined;
    return { event, repeated: before !== undefined };
  }

  #isCombined(group: string, { message, at }: Occurrence): boolean {
    let similar = this.#similar.get(group);
    if (!similar || at - similar.lastAt > similarWithinMs) similar = { messages: new Set(), lastAt: at };
    similar.lastAt = at;
    if (similar.messages.size < maxSimilar) similar.messages.add(message);
    const combined = !similar.messages.has(message);
    this.#similar.set(group, similar);
    return combined;
  }

  #first({ about, type, reason, message, at }: Occurrence): Event {
    const { component, host } = this.#source;
    // client-go puts the time in nanoseconds here. The lower digits are random, so that no two names are
    // equal.
    const nanoseconds =
      BigInt(Math.floor(at)) * 1_000_000n + BigInt(Math.floor(this.#random.next() * 1_000_000));
    const suffix = `.${nanoseconds.toString(16)}`;
    const time = rfc3339(at);
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${(about.name ?? '').slice(0, maxName - suffix.length)}${suffix}`,
        namespace: about.namespace || 'default',
        uid: '',
        resourceVersion: '',
        creationTimestamp: '',
      },
      involvedObject: about,
      type,
      reason,
      message: shorten(message),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component, ...(host && { host }) },
      reportingComponent: component,
      reportingInstance: host ?? '',
    };
  }
}

const again = (event: Event, message: string, at: number): Event => ({
  ...event,
  message: shorten(message),
  count: (event.count ?? 1) + 1,
  lastTimestamp: rfc3339(at),
});

const shorten = (message: string) =>
  message.length > maxMessage ? `${message.slice(0, maxMessage - 1)}…` : message;

export function aboutObject(object: KubeObject): Event['involvedObject'] {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace && { namespace }),
    name,
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}
