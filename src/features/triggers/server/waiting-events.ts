/** Counts the events of a trigger that wait for delivery, in the cache. */

import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import type { Cache, IndexDeclaration } from '../../../storage/cache.ts';
import { eventPhase, type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { maxPending } from '../api/trigger-event-draft.ts';

/** Events by `NAMESPACE/NAME` of the trigger. */
const eventsByTrigger: IndexDeclaration = {
  name: 'trigger events by trigger',
  prefix: storagePrefix(triggerEventResource),
  keysOf: (object) => [`${object.metadata.namespace}/${(object as TriggerEvent).spec.trigger}`],
};

/** Error message if too many events wait. */
export const fullMessage = `${maxPending} events of the trigger wait to be delivered already`;

/**
 * Returns true if too many events wait. `key` is `NAMESPACE/NAME` of a trigger; `storing` is the number of
 * events that are not in the cache yet.
 */
export function isFull(cache: Cache, key: string, storing = 0): boolean {
  const stored = cache.index(eventsByTrigger).get(key);
  if (stored.length + storing < maxPending) return false;
  const pending = stored.filter(({ object }) => eventPhase(object as TriggerEvent) === 'Pending').length;
  return pending + storing >= maxPending;
}
