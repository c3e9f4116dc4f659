/**
 * Writes v1 Events in the background, one at a time and in order. Recording never throws and never waits. If
 * the API cannot keep up, the newest events are dropped and their number is logged. Events are news, not
 * state: nothing may depend on the existence of an event.
 */

import { type Event, eventResource } from '../api/core/v1/event/event.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import { isNotFound, StatusError } from '../apimachinery/status-error.ts';
import { type Clock, pause } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import {
  aboutObject,
  type Correlated,
  EventCorrelator,
  type EventSource,
  type Occurrence,
} from './event-correlator.ts';
import type { EventRecorder } from './events.ts';

export interface EventRecorderOptions extends EventSource {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface StoppableEventRecorder extends EventRecorder {
  /** Accepts no more events. Resolves when the waiting events are written or 5 s have passed. */
  stop(): Promise<void>;
}

export function createEventRecorder(options: EventRecorderOptions): StoppableEventRecorder {
  return new Recorder(options);
}

const maxWaiting = 1_000;
/** Retry limits of client-go: 12 tries, 10 s apart, while the API is unreachable. */
const maxTries = 12;
const retryMs = 10_000;
const flushMs = 5_000;

class Recorder implements StoppableEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #events: ResourceClient<Event>;
  readonly #log: Logger;
  readonly #waiting: Occurrence[] = [];
  readonly #stop = new AbortController();
  #writing: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options, options.random);
    this.#events = options.client.resource(eventResource);
    this.#log = options.log.named('events');
  }

  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.#stop.signal.aborted) return;
    if (this.#waiting.length >= maxWaiting) {
      if (this.#dropped++ === 0) this.#log.warn('events come faster than they can be written; dropping some');
      return;
    }
    this.#waiting.push({ about: aboutObject(about), type, reason, message, at: this.#options.clock.now() });
    // Writing starts in a later turn, so that it neither delays the caller nor fails in the caller.
    this.#writing ??= Promise.resolve().then(() => this.#writeAll());
  }

  async stop(): Promise<void> {
    this.#stop.abort(new DOMException('the event recorder stops', 'AbortError'));
    const over = new AbortController();
    const timeout = pause(this.#options.clock, flushMs, over.signal);
    await Promise.race([this.#writing, timeout]);
    over.abort();
    const left = this.#waiting.splice(0).length;
    if (left) this.#log.warn('stopped with events unwritten', { count: left });
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const correlated = this.#correlator.correlate(next);
      if (correlated) await this.#write(correlated);
    }
    this.#writing = undefined;
    if (this.#dropped) this.#log.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  /** Writes one event, with retries. Never rejects. */
  async #write(correlated: Correlated): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#send(correlated);
        return;
      } catch (error) {
        const waitMs = tries === maxTries || this.#stop.signal.aborted ? undefined : againAfter(error);
        if (waitMs === undefined) {
          const { reason, involvedObject } = correlated.event;
          // Example: an event about an object in a terminating namespace.
          this.#log.debug('an event was not written', {
            reason,
            about: involvedObject.name,
            error: errorMessage(error),
          });
          return;
        }
        await pause(this.#options.clock, waitMs, this.#stop.signal);
      }
    }
  }

  async #send({ event, repeated }: Correlated): Promise<void> {
    const { name, namespace = 'default' } = event.metadata;
    const { count, lastTimestamp, message } = event;
    try {
      if (repeated) {
        await this.#events.patch(name, namespace, 'merge', { count, lastTimestamp, message });
        return;
      }
    } catch (error) {
      // The event has expired or was never written: create it with its full count.
      if (!isNotFound(error)) throw error;
    }
    await this.#events.create({ ...event, metadata: { name, namespace } });
  }
}

/**
 * Returns the milliseconds to wait before the event is sent again, or undefined if the server rejected it.
 */
function againAfter(error: unknown): number | undefined {
  if (!(error instanceof StatusError)) return retryMs;
  const { code, details } = error.status;
  return code === 429 ? (details?.retryAfterSeconds ?? retryMs / 1000) * 1000 : undefined;
}
