/** Stores the occurrences of Triggers as TriggerEvents. */
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import type { Client } from '../../../client/client.ts';
import type { Trigger } from '../api/trigger.ts';
import { triggerEventResource } from '../api/trigger-event.ts';
import { type Digest, eventDraft, type Happening } from '../api/trigger-event-draft.ts';
import type { Backlog } from './backlog.ts';

export class EventStore {
  readonly #client: Client;
  readonly #digest: Digest;
  readonly #backlog: Backlog;

  constructor(client: Client, backlog: Backlog, digest: Digest) {
    this.#client = client;
    this.#backlog = backlog;
    this.#digest = digest;
  }

  /** Stores an occurrence as a TriggerEvent, at most once, however often it is reported. */
  async store(trigger: Trigger, happening: Happening): Promise<void> {
    const draft = eventDraft(trigger, happening, this.#digest);
    try {
      this.#backlog.stored(await this.#client.resource(triggerEventResource).create(draft));
    } catch (error) {
      if (isAlreadyExists(error)) return;
      // The namespace is going away, so the event would not be delivered.
      if (isNamespaceTerminating(error) || isNotFound(error)) return;
      throw error;
    }
  }
}
