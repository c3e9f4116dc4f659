/**
 * History of a pod template: each of its states is a ControllerRevision of the owner, named by its content
 * (k8s.io/kubernetes pkg/controller/history). Pure.
 */
import type { ControllerRevision } from '../../../api/apps/v1/controller-revision.ts';
import type { PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import {
  deepCopy,
  deepEqual,
  identityOf,
  isRecord,
  type JsonObject,
  sortKeys,
} from '../../../apimachinery/equality.ts';
import { safeHash } from '../safe-hash.ts';

/** Label on pods, and on the revisions of a DaemonSet. */
export const revisionLabel = 'controller-revision-hash';

/**
 * Returns a patch that restores the template, in the form in which clients send it to undo a rollout. It
 * equals the output of Go byte for byte, because clients compare it with their own encoding of the template.
 */
export function revisionData({ metadata, spec }: PodTemplateSpec): JsonObject {
  const template = { metadata: { ...metadata, creationTimestamp: null }, spec, $patch: 'replace' };
  return sortKeys(deepCopy({ spec: { template } })) as JsonObject;
}

/**
 * Returns the template of a revision, or undefined if its data, which another client may have written, has
 * none.
 */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const revised = isRecord(data) ? data.spec : undefined;
  const template = isRecord(revised) ? revised.template : undefined;
  if (!isRecord(template)) return undefined;
  const { metadata, spec } = template;
  return isRecord(metadata) && isRecord(spec)
    ? (deepCopy({ metadata, spec }) as unknown as PodTemplateSpec)
    : undefined;
}

/** Returns the hash. `collisionCount` is the number of name collisions so far. */
export const revisionHash = (data: JsonObject, collisionCount: number | undefined) =>
  safeHash(`${identityOf(data)}${collisionCount || ''}`);

/** Returns the name, with at most 253 characters. */
export const revisionName = (owner: string, hash: string) => `${owner.slice(0, 223)}-${hash}`;

export interface RevisionPlan {
  /** Revision of the owner's current template; undefined if it must be created. */
  readonly current: ControllerRevision | undefined;
  /** Number of the current revision, which is the newest. */
  readonly number: number;
  /** Other revisions with the same data. */
  readonly duplicates: readonly ControllerRevision[];
  /** Revisions with other data, the oldest first. */
  readonly old: readonly ControllerRevision[];
}

export function planRevisions(revisions: readonly ControllerRevision[], data: JsonObject): RevisionPlan {
  const sorted = oldestFirst(revisions);
  const same = sorted.filter((one) => deepEqual(one.data, data));
  const old = sorted.filter((one) => !same.includes(one));
  const current = same.at(-1);
  const newest = old.at(-1)?.revision ?? 0;
  // A number that was written by hand may be the largest possible one.
  const number = Math.min(Math.max(newest + 1, current?.revision ?? 1), Number.MAX_SAFE_INTEGER);
  return { current, number, duplicates: same.slice(0, -1), old };
}

/** Sorts by number, then by age and name, so that all readers have the same order. */
export const oldestFirst = (revisions: readonly ControllerRevision[]): ControllerRevision[] =>
  [...revisions].sort((a, b) => a.revision - b.revision || (ageOf(a) < ageOf(b) ? -1 : 1));

const ageOf = ({ metadata }: ControllerRevision) => `${metadata.creationTimestamp} ${metadata.name}`;
