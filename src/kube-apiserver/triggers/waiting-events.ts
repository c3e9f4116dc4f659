/** How many events of a trigger wait to be delivered, as the cache shows it. */
import { eventPhase, type TriggerEvent, triggerEventResource } from '../../api/minik8s/v1/trigger-event.ts';
import { mostPending } from '../../api/minik8s/v1/trigger-event-draft.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Cache, IndexDeclaration } from '../../storage/cache.ts';

/** By `NAMESPACE/NAME` of the trigger. */
const eventsByTrigger: IndexDeclaration = {
  name: 'trigger events by trigger',
  prefix: storagePrefix(triggerEventResource),
  keysOf: (object) => [`${object.metadata.namespace}/${(object as TriggerEvent).spec.trigger}`],
};

/** What is said when no more are taken. */
export const fullMessage = `${mostPending} events of the trigger wait to be delivered already`;

/** `key` is `NAMESPACE/NAME` of a trigger; `storing` are on their way into the cache. */
export function isFull(cache: Cache, key: string, storing = 0): boolean {
  const stored = cache.index(eventsByTrigger).get(key);
  if (stored.length + storing < mostPending) return false;
  const pending = stored.filter(({ object }) => eventPhase(object as TriggerEvent) === 'Pending').length;
  return pending + storing >= mostPending;
}
