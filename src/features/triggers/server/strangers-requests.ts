/**
 * Limits the events that anonymous users send to public triggers, and the runs to which these events lead.
 */
import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { checkRoom, roomKeys } from '../../../kube-apiserver/forwarding/strangers-room.ts';
import type { Cache, IndexDeclaration } from '../../../storage/cache.ts';
import { hasEnded, type WorkflowRun, workflowRunResource } from '../../workflows/api/workflow-run.ts';
import { eventPhase, type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { triggerLabel } from '../api/trigger-event-draft.ts';

const runsOfTriggers: IndexDeclaration = {
  name: 'runs in progress by the trigger that has led to them',
  prefix: storagePrefix(workflowRunResource),
  keysOf: (object) => {
    const { namespace, labels } = object.metadata;
    const name = labels?.[triggerLabel];
    return name !== undefined && !hasEnded(object as WorkflowRun) ? roomKeys(namespace, name) : [];
  },
};

/** Pending events only; dead letters have a limit of their own. */
const eventsOfRequests: IndexDeclaration = {
  name: 'events of requests that wait to be delivered, by trigger',
  prefix: storagePrefix(triggerEventResource),
  keysOf: (object) => {
    const event = object as TriggerEvent;
    const isRequest = event.spec.type === 'minik8s.io/http.request';
    return isRequest && eventPhase(event) === 'Pending'
      ? roomKeys(object.metadata.namespace, event.spec.trigger)
      : [];
  },
};

/** Throws 429 if an anonymous user may not send a request to the trigger now. */
export function checkRequestsOfStrangers(cache: Cache, namespace: string, name: string): void {
  const of = { namespace, name };
  checkRoom(cache, eventsOfRequests, of, 'requests that wait to be delivered by triggers');
  checkRoom(cache, runsOfTriggers, of, 'runs in progress to which triggers have led');
}
