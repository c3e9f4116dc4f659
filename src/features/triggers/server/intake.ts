/** Stores the trigger events of this server: requests, and results of functions. */
import { createHash } from 'node:crypto';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { newStatusError, type Status, StatusError } from '../../../apimachinery/status-error.ts';
import type { Cache, IndexDeclaration } from '../../../storage/cache.ts';
import { type Trigger, triggerResource } from '../api/trigger.ts';
import { triggerEventResource } from '../api/trigger-event.ts';
import { eventDraft, type Happening } from '../api/trigger-event-draft.ts';
import { fullMessage, isFull } from './waiting-events.ts';

/** Triggers by `NAMESPACE/NAME` of the function. */
const triggersByFunction: IndexDeclaration = {
  name: 'triggers by the function whose results they report',
  prefix: storagePrefix(triggerResource),
  keysOf: (object) => {
    const name = (object as Trigger).spec.result?.function;
    return name === undefined ? [] : [`${object.metadata.namespace}/${name}`];
  },
};

export interface IntakeOptions {
  readonly cache: Cache;
  /** Handler of this server, as a user who may do everything. */
  readonly handler: (request: Request) => Promise<Response>;
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const retryAfterSeconds = 5;

export class Intake {
  readonly #options: IntakeOptions;
  /** Number of events that are being stored, by trigger. */
  readonly #storing = new Map<string, number>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Returns the triggers on the results of a function. */
  triggersOfResults(namespace: string, name: string): readonly Trigger[] {
    const found = this.#options.cache.index(triggersByFunction).get(`${namespace}/${name}`);
    if (found.length === 0) return [];
    return found
      .map(({ object }) => object as Trigger)
      .filter((trigger) => !trigger.spec.suspend && !isTerminating(trigger));
  }

  /**
   * Stores an event. Resolves to its id; an event that exists already is not stored again. Throws 429 if too
   * many events wait.
   */
  async take(
    trigger: Trigger,
    happening: Happening,
  ): Promise<{ readonly id: string; readonly name: string }> {
    if (this.#isFull(trigger)) throw newStatusError('TooManyRequests', fullMessage, { retryAfterSeconds });
    return this.#store(trigger, happening);
  }

  /**
   * Stores an event that cannot be sent again later; if too many events wait, it is stored as a dead letter.
   */
  async takeAnyway(trigger: Trigger, happening: Happening, time: string): Promise<void> {
    const isFull = this.#isFull(trigger);
    const { name } = await this.#store(trigger, happening);
    if (!isFull) return;
    const { namespace = '' } = trigger.metadata;
    const path = `${collection(triggerEventResource, namespace)}/${name}/status`;
    const status = { phase: 'Failed', failedTime: time, lastError: fullMessage };
    await this.#send('PATCH', path, { status }, 'application/merge-patch+json');
  }

  #isFull({ metadata }: Trigger): boolean {
    const key = `${metadata.namespace}/${metadata.name}`;
    return isFull(this.#options.cache, key, this.#storing.get(key));
  }

  async #store(
    trigger: Trigger,
    happening: Happening,
  ): Promise<{ readonly id: string; readonly name: string }> {
    const key = `${trigger.metadata.namespace}/${trigger.metadata.name}`;
    const draft = eventDraft(trigger, happening, digest);
    this.#storing.set(key, (this.#storing.get(key) ?? 0) + 1);
    try {
      const status = await this.#send(
        'POST',
        collection(triggerEventResource, trigger.metadata.namespace ?? ''),
        draft,
      );
      if (status !== undefined && status.reason !== 'AlreadyExists') throw new StatusError(status);
      return { id: draft.spec.id, name: draft.metadata.name ?? '' };
    } finally {
      const left = (this.#storing.get(key) ?? 1) - 1;
      if (left === 0) this.#storing.delete(key);
      else this.#storing.set(key, left);
    }
  }

  /** Returns the error of a request; undefined if there is none. */
  async #send(
    method: string,
    path: string,
    body: unknown,
    type = 'application/json',
  ): Promise<Status | undefined> {
    const headers = { 'content-type': type, 'user-agent': 'gateway' };
    const request = new Request(`http://minik8s.internal${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const answer = await this.#options.handler(request);
    const text = await answer.text();
    return answer.ok ? undefined : (JSON.parse(text) as Status);
  }
}

const collection = (ref: ResourceRef, namespace: string) =>
  `/apis/${apiVersionOf(ref)}/namespaces/${namespace}/${ref.plural}`;
