/** Steps of the start of an object in its desired state, with their durations. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../apimachinery/fields.ts';
import { nameOf, type ObjectRef } from './kinds.ts';
import { conditionOf, containersOf } from './pod-facts.ts';
import { eventTime, type Snapshot } from './snapshot.ts';

interface Moment {
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * Returns a line for each step of an object's start with its duration. A workload has the steps of its newest
 * pod below its own. Returns '' for objects that report no times.
 */
export function pastOf(seen: Snapshot, ref: ObjectRef): string {
  const object = seen.get(ref);
  if (!object) return '';
  const own = linesOf(ref.key === 'pods' ? podMoments(seen, object) : otherMoments(object), '  ');
  const pod = ref.key === 'pods' ? undefined : newestPod(seen, object);
  const below = pod ? linesOf(podMoments(seen, seen.get(pod) ?? {}), '    ') : '';
  return pod && below !== '' ? `${own}  ${nameOf(pod)}:\n${below}` : own;
}

function linesOf(moments: readonly Moment[], indent: string): string {
  const inOrder = moments.filter(({ atMs }) => !Number.isNaN(atMs)).toSorted((a, b) => a.atMs - b.atMs);
  return inOrder
    .slice(1)
    .map(({ what, atMs }, i) => `${indent}${what} after ${seconds(atMs - (inOrder[i]?.atMs ?? atMs))}\n`)
    .join('');
}

const moment = (what: string, at: string): Moment => ({ what, atMs: Date.parse(at) });
const created = (object: JsonObject) => moment('created', metadataOf(object).creationTimestamp ?? '');

function podMoments(seen: Snapshot, pod: JsonObject): readonly Moment[] {
  const condition = (type: string) => textAt(conditionOf(pod, type), 'lastTransitionTime');
  const started = containersOf(pod).map(({ name, isInit, status }) =>
    moment(
      `${isInit ? 'init container' : 'container'} ${name} started`,
      textAt(status, 'state', 'running', 'startedAt') || textAt(status, 'state', 'terminated', 'startedAt'),
    ),
  );
  return [
    created(pod),
    moment(`scheduled to ${textAt(pod, 'spec', 'nodeName')}`, condition('PodScheduled')),
    ...pulls(seen, pod),
    ...started,
    moment('ready', condition('Ready')),
  ];
}

/** Returns the ends of the pulls of images; the message of the node has the duration of each. */
function pulls(seen: Snapshot, pod: JsonObject): readonly Moment[] {
  return seen.eventsOf(pod).flatMap((event) => {
    if (event.reason !== 'Pulled') return [];
    const [, image, took] =
      /^Successfully pulled image "([^"]+)" in (\S+)/.exec(textAt(event, 'message')) ?? [];
    return image === undefined ? [] : [{ what: `image ${image} pulled in ${took}`, atMs: eventTime(event) }];
  });
}

/** Conditions that report a step of the start, in words. */
const steps: Readonly<Record<string, string>> = {
  Available: 'available',
  Complete: 'complete',
  Ready: 'ready',
  Connected: 'connected',
  Uploaded: 'files uploaded',
  Built: 'built',
  Submitted: 'submitted to Slurm',
};

const times: readonly (readonly [field: string, what: string])[] = [
  ['startTime', 'started'],
  ['completionTime', 'ended'],
  ['endTime', 'ended'],
];

function otherMoments(object: JsonObject): readonly Moment[] {
  const conditions = recordsAt(object, 'status', 'conditions').flatMap((one) => {
    const what = one.status === 'True' ? steps[textAt(one, 'type')] : undefined;
    return what === undefined ? [] : [moment(what, textAt(one, 'lastTransitionTime'))];
  });
  return [
    created(object),
    ...times.map(([field, what]) => moment(what, textAt(object, 'status', field))),
    ...conditions,
  ];
}

/** Returns the newest pod below a workload. */
function newestPod(seen: Snapshot, workload: JsonObject): ObjectRef | undefined {
  const below = (object: JsonObject): readonly ObjectRef[] =>
    seen.ownedBy(object).flatMap((ref) => (ref.key === 'pods' ? [ref] : below(seen.get(ref) ?? {})));
  const age = (ref: ObjectRef) => metadataOf(seen.get(ref) ?? {}).creationTimestamp ?? '';
  return below(workload).reduce<ObjectRef | undefined>(
    (newest, ref) => (newest === undefined || age(ref) > age(newest) ? ref : newest),
    undefined,
  );
}

/** Times of the API have whole seconds. */
const seconds = (ms: number) => (ms < 1000 ? 'less than a second' : `${Math.round(ms / 1000)} s`);
