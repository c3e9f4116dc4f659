/** Why a rollout stands still, in one line. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';

/**
 * Returns the first cause: the workload's own condition that pods cannot be created, else a pod that is not
 * scheduled, else a container that waits or ended with an error, else one that is not ready. Undefined if
 * nothing is known. `pods` are those of the workload; the newest, which the rollout waits for, come first.
 */
export const rolloutCause = (object: JsonObject, pods: readonly JsonObject[]): string | undefined =>
  firstCause(object, pods, [unscheduled, waiting, unready]);

/** Returns the first cause as rolloutCause does, without that of pods which only are not ready yet. */
export const standstillCause = (object: JsonObject, pods: readonly JsonObject[]): string | undefined =>
  firstCause(object, pods, [unscheduled, waiting]);

function firstCause(
  object: JsonObject,
  pods: readonly JsonObject[],
  finders: readonly ((pod: JsonObject) => string | undefined)[],
): string | undefined {
  const failed = failure(object);
  if (failed !== undefined) return failed;
  const created = (pod: JsonObject) => metadataOf(pod).creationTimestamp ?? '';
  const newestFirst = [...pods].sort((a, b) =>
    created(a) < created(b) ? 1 : created(a) > created(b) ? -1 : 0,
  );
  for (const find of finders)
    for (const pod of newestFirst) {
      const cause = find(pod);
      if (cause !== undefined) return `pod/${metadataOf(pod).name}: ${cause}`;
    }
  return undefined;
}

const conditionOf = (object: JsonObject, type: string, status: string): JsonObject | undefined =>
  recordsAt(object, 'status', 'conditions').find((one) => one.type === type && one.status === status);

/** Returns `Reason: message` in one line, or what there is of both. */
const inWords = (value: unknown): string =>
  [textAt(value, 'reason'), textAt(value, 'message').replaceAll(/\s+/g, ' ').trim()]
    .filter(Boolean)
    .join(': ');

function failure(object: JsonObject): string | undefined {
  const condition = conditionOf(object, 'ReplicaFailure', 'True');
  return condition && (inWords(condition) || undefined);
}

function unscheduled(pod: JsonObject): string | undefined {
  const condition = conditionOf(pod, 'PodScheduled', 'False');
  return condition && (inWords(condition) || 'not scheduled');
}

/** Waiting reasons of a container that is on its way. */
const starting = ['ContainerCreating', 'PodInitializing'];

const statusesOf = (pod: JsonObject) =>
  ['initContainerStatuses', 'containerStatuses'].flatMap((field) => recordsAt(pod, 'status', field));

function waiting(pod: JsonObject): string | undefined {
  for (const status of statusesOf(pod)) {
    const name = `container ${textAt(status, 'name')}`;
    const reason = textAt(status, 'state', 'waiting', 'reason');
    if (reason !== '' && !starting.includes(reason)) return `${name}: ${waitText(status)}`;
    const code = endText(status, 'state');
    if (code !== undefined) return `${name}: ${code}`;
  }
  return undefined;
}

/** Returns why a container waits, and how it ended before. */
function waitText(status: JsonObject): string {
  const { state } = status as { readonly state?: { readonly waiting?: unknown } };
  const ended = endText(status, 'lastState');
  return ended === undefined ? inWords(state?.waiting) : `${inWords(state?.waiting)} (last: ${ended})`;
}

/** Returns how a container ended; undefined if it runs, or ended without an error. */
function endText(status: JsonObject, field: 'state' | 'lastState'): string | undefined {
  const states = status[field] as { readonly terminated?: { readonly exitCode?: unknown } } | undefined;
  const code = states?.terminated?.exitCode;
  return typeof code === 'number' && code !== 0
    ? [`exit code ${code}`, inWords(states?.terminated)].filter(Boolean).join(', ')
    : undefined;
}

function unready(pod: JsonObject): string | undefined {
  const condition = conditionOf(pod, 'Ready', 'False');
  return condition && (inWords(condition) || 'not ready');
}
