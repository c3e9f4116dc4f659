/** Deletes Events whose last occurrence is older than --event-ttl. */
import { eventResource } from '../../api/core/v1/event/event.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { type ControllerFactory, watched } from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { defaultEventTtl, leftOf } from './event-ttl-plan.ts';

export const eventTtlRights: AccountRights = {
  own: [['get list watch delete', 'core', 'events']],
};

/** Number of workers. After an hour without a leader many Events are due at once. */
const workers = 8;

export const eventTtl =
  (ttlMs = defaultEventTtl): ControllerFactory =>
  ({ client, clock, informers }) => {
    const events = informers.informerFor(eventResource).lister;
    return {
      name: 'event-ttl',
      workers,
      watches: [watched(eventResource, (event) => [objectKey(event)])],
      async reconcile(key: ObjectKey) {
        const event = events.get(key);
        if (!event || isTerminating(event)) return undefined;
        const left = leftOf(event, ttlMs, clock.now());
        if (left > 0) return { requeueAfter: left };
        const { name, namespace, uid, resourceVersion } = event.metadata;
        // The precondition protects an Event that occurred again in the meantime; its change enqueues it
        // again.
        const preconditions = { uid, resourceVersion };
        await ifPresent(client.resource(eventResource).delete(name, namespace, { preconditions }));
        return undefined;
      },
    };
  };
