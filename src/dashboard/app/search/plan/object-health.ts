/** The health of an object as its status shows it. Pure. */
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { numberAt, recordsAt, textAt, valueAt } from '../../../../apimachinery/fields.ts';
import { type Health, healthOfWord } from '../../table/plan/health.ts';

/** Returns the health; undefined for objects that have none, such as ConfigMaps. */
export function objectHealth(kind: string, object: JsonObject): Health | undefined {
  if (kind === 'Pod') return podHealth(object);
  if (kind === 'Node') return conditionHealth(object, 'Ready') ?? 'waiting';
  if (kind === 'Event') return textAt(object, 'type') === 'Warning' ? 'bad' : undefined;
  return countHealth(object) ?? byConditions(object) ?? byPhase(object);
}

function podHealth(pod: JsonObject): Health {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded') return 'good';
  if (phase === 'Failed') return 'bad';
  if (containerTroubles(pod).length > 0) return 'bad';
  return conditionHealth(pod, 'Ready') === 'good' ? 'good' : 'waiting';
}

/** Returns the reasons for which containers wait or ended, without those that go away by themselves. */
export function containerTroubles(pod: JsonObject): string[] {
  const statuses = ['initContainerStatuses', 'containerStatuses'].flatMap((field) =>
    recordsAt(pod, 'status', field),
  );
  return statuses
    .map((status) => textAt(status, 'state', 'waiting', 'reason') || failedReason(status))
    .filter((reason) => reason !== '' && healthOfWord(reason) === 'bad');
}

function failedReason(status: JsonObject): string {
  if (numberAt(status, 'state', 'terminated', 'exitCode') === 0) return '';
  return textAt(status, 'state', 'terminated', 'reason');
}

function conditionHealth(object: JsonObject, type: string): Health | undefined {
  const condition = recordsAt(object, 'status', 'conditions').find((each) => each.type === type);
  if (!condition) return undefined;
  return condition.status === 'True' ? 'good' : 'bad';
}

/** Returns the health of an object that counts ready replicas; undefined for others. */
function countHealth(object: JsonObject): Health | undefined {
  const wanted = valueAt(object, 'status', 'desiredNumberScheduled') ?? valueAt(object, 'spec', 'replicas');
  if (typeof wanted !== 'number') return undefined;
  const ready = numberAt(object, 'status', 'numberReady') || numberAt(object, 'status', 'readyReplicas');
  return ready >= wanted ? 'good' : 'waiting';
}

function byConditions(object: JsonObject): Health | undefined {
  if (conditionHealth(object, 'Failed') === 'good') return 'bad';
  if (conditionHealth(object, 'Complete') === 'good') return 'good';
  return conditionHealth(object, 'Ready') ?? conditionHealth(object, 'Available');
}

const byPhase = (object: JsonObject): Health | undefined =>
  healthOfWord(textAt(object, 'status', 'phase') || textAt(object, 'status', 'state'));
