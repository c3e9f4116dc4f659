/** Readers of a pod and of its events for rules. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt } from '../apimachinery/fields.ts';

export const conditionOf = (object: JsonObject, type: string): JsonObject | undefined =>
  recordsAt(object, 'status', 'conditions').find((one) => one.type === type);

/** Returns a message in one line, with single spaces. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A container with its status. */
export interface ContainerFacts {
  readonly name: string;
  readonly isInit: boolean;
  readonly spec: JsonObject;
  /** Empty before the node has reported the container. */
  readonly status: JsonObject;
}

/** Returns the containers of a pod, the init containers first. */
export function containersOf(pod: JsonObject): readonly ContainerFacts[] {
  const facts = (field: string, statusField: string, isInit: boolean) => {
    const statuses = recordsAt(pod, 'status', statusField);
    return recordsAt(pod, 'spec', field).map((spec) => {
      const name = textAt(spec, 'name');
      return { name, isInit, spec, status: statuses.find((one) => one.name === name) ?? {} };
    });
  };
  return [
    ...facts('initContainers', 'initContainerStatuses', true),
    ...facts('containers', 'containerStatuses', false),
  ];
}

/** Returns the containers that wait with one of these reasons. */
export const waitingFor = (pod: JsonObject, reasons: readonly string[]): readonly ContainerFacts[] =>
  containersOf(pod).filter(({ status }) => reasons.includes(textAt(status, 'state', 'waiting', 'reason')));

export const waitMessage = ({ status }: ContainerFacts): string =>
  oneLine(textAt(status, 'state', 'waiting', 'message'));

/** Returns the last end of a container: the current one, or that of the previous run. */
export function lastEnd({ status }: ContainerFacts):
  | {
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string;
      readonly isPrevious: boolean;
    }
  | undefined {
  for (const field of ['state', 'lastState']) {
    const ended = recordAt(status, field, 'terminated');
    if (Object.keys(ended).length === 0) continue;
    return {
      exitCode: numberAt(ended, 'exitCode'),
      reason: textAt(ended, 'reason'),
      message: oneLine(textAt(ended, 'message')),
      isPrevious: field === 'lastState',
    };
  }
  return undefined;
}

/** Seconds after which a restarted container is no longer seen as one that ends again and again. */
const maxTrialSeconds = 60;

/**
 * Returns whether a container ends again and again: it waits for its next start, or it runs and has not run
 * longer than the time before it ended. Such a container is ready only for a short time.
 */
export function isLooping(container: ContainerFacts, nowMs: number): boolean {
  const { status } = container;
  if (textAt(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff') return true;
  const startedMs = Date.parse(textAt(status, 'state', 'running', 'startedAt'));
  const ended = recordAt(status, 'lastState', 'terminated');
  const ranMs = Date.parse(textAt(ended, 'finishedAt')) - Date.parse(textAt(ended, 'startedAt'));
  // Times of a status are whole seconds: a container that ends at once can seem to have run for one.
  const trialSeconds = Math.min(ranMs / 1000 + 2, maxTrialSeconds);
  return nowMs - startedMs <= trialSeconds * 1000;
}

export const isDeleted = (object: JsonObject): boolean => metadataOf(object).deletionTimestamp !== undefined;

/** Returns whether a pod has ended by itself, or is being deleted. */
export const isOver = (pod: JsonObject): boolean =>
  isDeleted(pod) || ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));

export const isReady = (pod: JsonObject): boolean => conditionOf(pod, 'Ready')?.status === 'True';

/** Returns whether a pod is ready, and none of its containers ends again and again. */
export const isReadyForGood = (pod: JsonObject, nowMs: number): boolean =>
  isReady(pod) && !containersOf(pod).some((one) => isLooping(one, nowMs));

/** Returns the message of the last event of a reason, in one line; undefined without one. */
export function lastEvent(events: readonly JsonObject[], reason: string, begins = ''): string | undefined {
  const found = events.findLast(
    (event) => event.reason === reason && textAt(event, 'message').startsWith(begins),
  );
  return found && oneLine(textAt(found, 'message'));
}
