/** Steps of the start of an object that is as wished, with their durations. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, textAt } from '../apimachinery/fields.ts';
import type { ObjectRef } from './kinds.ts';
import { conditionOf, containersOf } from './pod-facts.ts';
import type { Snapshot } from './snapshot.ts';

interface Moment {
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** Returns a line for each step of a pod's start with its duration; empty for other kinds. */
export function pastOf(seen: Snapshot, { key, namespace, name }: ObjectRef): string {
  const pod = key === 'pods' ? seen.get({ key, namespace, name }) : undefined;
  if (!pod) return '';
  const moments = momentsOf(pod);
  return moments
    .slice(1)
    .map(({ what, atMs }, i) => `  ${what} after ${seconds(atMs - (moments[i]?.atMs ?? atMs))}\n`)
    .join('');
}

function momentsOf(pod: JsonObject): readonly Moment[] {
  const condition = (type: string) => textAt(conditionOf(pod, type), 'lastTransitionTime');
  const started = containersOf(pod).map(({ name, isInit, status }) => ({
    what: `${isInit ? 'init container' : 'container'} ${name} started`,
    at: textAt(status, 'state', 'running', 'startedAt') || textAt(status, 'state', 'terminated', 'startedAt'),
  }));
  const all = [
    { what: 'created', at: metadataOf(pod).creationTimestamp ?? '' },
    { what: `scheduled to ${textAt(pod, 'spec', 'nodeName')}`, at: condition('PodScheduled') },
    ...started,
    { what: 'ready', at: condition('Ready') },
  ];
  return all
    .map(({ what, at }) => ({ what, atMs: Date.parse(at) }))
    .filter(({ atMs }) => !Number.isNaN(atMs))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Times of the API have whole seconds. */
const seconds = (ms: number) => (ms < 1000 ? 'less than a second' : `${Math.round(ms / 1000)} s`);
