/**
 * Limits unfinished work of anonymous users: runs of public workflows, events of public triggers and the runs
 * they led to. Each is stored, and may wait for a year, so there is a limit for one workflow or trigger, and
 * for a namespace.
 */

import { eventPhase, type TriggerEvent, triggerEventResource } from '../../api/minik8s/v1/trigger-event.ts';
import { triggerLabel } from '../../api/minik8s/v1/trigger-event-draft.ts';
import {
  callerAnnotation,
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../api/minik8s/v1/workflow-run.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import { anonymousUser } from '../../apiserver/user.ts';
import type { Cache, IndexDeclaration } from '../../storage/cache.ts';

interface Room {
  readonly count: number;
  /** Size of the stored objects. */
  readonly mebibytes: number;
}

/** Limit of one workflow or trigger. */
export const ownRoom: Room = { count: 1000, mebibytes: 16 };
/** Limit of a whole namespace. */
export const namespaceRoom: Room = { count: 4000, mebibytes: 32 };
const mebibyte = 1024 * 1024;
const retryAfterSeconds = 5;

const prefix = storagePrefix(workflowRunResource);
const isUnderWay = (object: object) => !hasEnded(object as WorkflowRun);

/** Returns two index keys: `NAMESPACE/NAME` of the workflow or trigger, and the namespace. */
const keysFor = (namespace: string | undefined, name: string) => [`${namespace}/${name}`, `${namespace}`];

const runsOfStrangers: IndexDeclaration = {
  name: 'runs under way that strangers have begun, by workflow',
  prefix,
  keysOf: (object) => {
    const { metadata, spec } = object as WorkflowRun;
    const isTheirs = metadata.annotations?.[callerAnnotation] === anonymousUser;
    return isTheirs && isUnderWay(object) ? keysFor(metadata.namespace, spec.workflow) : [];
  },
};

const runsOfTriggers: IndexDeclaration = {
  name: 'runs under way by the trigger that has led to them',
  prefix,
  keysOf: (object) => {
    const { namespace, labels } = object.metadata;
    const name = labels?.[triggerLabel];
    return name !== undefined && isUnderWay(object) ? keysFor(namespace, name) : [];
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
      ? keysFor(object.metadata.namespace, event.spec.trigger)
      : [];
  },
};

function check(cache: Cache, index: IndexDeclaration, namespace: string, name: string, what: string): void {
  const places: readonly (readonly [key: string, room: Room, of: string])[] = [
    [`${namespace}/${name}`, ownRoom, name],
    [namespace, namespaceRoom, `the namespace ${namespace}`],
  ];
  for (const [key, { count, mebibytes }, of] of places) {
    const found = cache.index(index).get(key);
    const bytes = () => found.reduce((sum, object) => sum + object.bytes.length, 0);
    if (found.length < count && bytes() < mebibytes * mebibyte) continue;
    throw newStatusError(
      'TooManyRequests',
      `${what} of ${of} are ${count} or ${mebibytes} MiB already: nobody unknown may add to them before some are over`,
      { retryAfterSeconds },
    );
  }
}

/** Throws 429 if an anonymous user may not start a run of the workflow now. */
export const checkRunsOfStrangers = (cache: Cache, namespace: string, workflow: string): void =>
  check(cache, runsOfStrangers, namespace, workflow, 'runs under way that strangers have begun');

/** Throws 429 if an anonymous user may not send a request to the trigger now. */
export function checkRequestsOfStrangers(cache: Cache, namespace: string, trigger: string): void {
  check(cache, eventsOfRequests, namespace, trigger, 'requests that wait to be delivered by triggers');
  check(cache, runsOfTriggers, namespace, trigger, 'runs under way to which triggers have led');
}
