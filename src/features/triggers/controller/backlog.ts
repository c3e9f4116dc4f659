/**
 * Number of pending events of each trigger: events in the cache, and events of this process that the cache
 * does not show yet.
 */

import { objectKey } from '../../../apimachinery/meta.ts';
import { onAbort } from '../../../base/abort.ts';
import type { Informer, Lister } from '../../../client/informer.ts';
import { eventPhase, type TriggerEvent } from '../api/trigger-event.ts';
import { maxPending } from '../api/trigger-event-draft.ts';

/** Number of pending events at which a blocked source continues. */
const resumeAt = maxPending / 2;

export const eventsByTrigger = 'trigger';
export const triggerOf = ({ metadata, spec }: TriggerEvent) => `${metadata.namespace}/${spec.trigger}`;

export class Backlog {
  readonly #lister: Lister<TriggerEvent>;
  /** Names of the unseen events by trigger. */
  readonly #unseen = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(informer: Informer<TriggerEvent>) {
    informer.addIndex(eventsByTrigger, (event) => [triggerOf(event)]);
    this.#lister = informer.lister;
    informer.addEventHandler({
      onAdd: (event) => this.#seen(event),
      onUpdate: (event) => this.#changed(event),
      onDelete: (event) => this.#seen(event),
    });
  }

  pending(trigger: string): number {
    const seen = this.#lister.byIndex(eventsByTrigger, trigger);
    const count = seen.reduce((sum, event) => sum + Number(eventPhase(event) === 'Pending'), 0);
    return count + (this.#unseen.get(trigger)?.size ?? 0);
  }

  isFull(trigger: string): boolean {
    return this.pending(trigger) >= maxPending;
  }

  waits(trigger: string): boolean {
    return this.#waiting.has(trigger);
  }

  stored(event: TriggerEvent): void {
    if (this.#lister.get(objectKey(event))) return;
    const trigger = triggerOf(event);
    this.#unseen.set(trigger, (this.#unseen.get(trigger) ?? new Set()).add(event.metadata.name));
  }

  /** Resolves when there is room again; rejects when the signal aborts. */
  room(trigger: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.getOrInsertComputed(trigger, () => new Set());
      const leave = () => {
        waiting.delete(go);
        if (waiting.size === 0) this.#waiting.delete(trigger);
      };
      const unlink = onAbort(signal, () => {
        leave();
        reject(signal.reason);
      });
      const go = () => {
        unlink();
        leave();
        resolve();
      };
      waiting.add(go);
      this.#look(trigger);
    });
  }

  forget(trigger: string): void {
    this.#unseen.delete(trigger);
  }

  #seen(event: TriggerEvent): void {
    const unseen = this.#unseen.get(triggerOf(event));
    unseen?.delete(event.metadata.name);
    if (unseen?.size === 0) this.#unseen.delete(triggerOf(event));
    this.#changed(event);
  }

  #changed(event: TriggerEvent): void {
    if (this.#waiting.has(triggerOf(event))) this.#look(triggerOf(event));
  }

  #look(trigger: string): void {
    if (this.pending(trigger) > resumeAt) return;
    for (const go of [...(this.#waiting.get(trigger) ?? [])]) go();
  }
}
