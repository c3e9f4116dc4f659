/**
 * The history of a pod template: each state that it had is a ControllerRevision of its owner, which is named by its contents
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

/** On pods, and on the revisions of a DaemonSet. */
export const revisionLabel = 'controller-revision-hash';

/**
 * A patch that brings the template back, in the form in which clients send it to undo a rollout. As Go writes it, to the byte:
 * clients compare it with what they make of the template themselves.
 */
export function revisionData({ metadata, spec }: PodTemplateSpec): JsonObject {
  const template = { metadata: { ...metadata, creationTimestamp: null }, spec, $patch: 'replace' };
  return sortKeys(deepCopy({ spec: { template } })) as JsonObject;
}

/** The template of a revision; undefined where its data, which somebody else may have written, has none. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const revised = isRecord(data) ? data.spec : undefined;
  const template = isRecord(revised) ? revised.template : undefined;
  if (!isRecord(template)) return undefined;
  const { metadata, spec } = template;
  return isRecord(metadata) && isRecord(spec)
    ? (deepCopy({ metadata, spec }) as unknown as PodTemplateSpec)
    : undefined;
}

/** `collisionCount` is how many other objects had the names that this would have had. */
export const revisionHash = (data: JsonObject, collisionCount: number | undefined) =>
  safeHash(`${identityOf(data)}${collisionCount || ''}`);

/** At most 253 characters. */
export const revisionName = (owner: string, hash: string) => `${owner.slice(0, 223)}-${hash}`;

export interface RevisionPlan {
  /** What the owner's template is now; undefined where that has to be made. */
  readonly current: ControllerRevision | undefined;
  /** The number that it should have: it is the newest. */
  readonly number: number;
  /** Others of the same data. */
  readonly duplicates: readonly ControllerRevision[];
  /** Of other data, the oldest first. */
  readonly old: readonly ControllerRevision[];
}

export function planRevisions(revisions: readonly ControllerRevision[], data: JsonObject): RevisionPlan {
  const sorted = oldestFirst(revisions);
  const same = sorted.filter((one) => deepEqual(one.data, data));
  const old = sorted.filter((one) => !same.includes(one));
  const current = same.at(-1);
  const newest = old.at(-1)?.revision ?? 0;
  // A number that somebody wrote by hand may be the last there is.
  const number = Math.min(Math.max(newest + 1, current?.revision ?? 1), Number.MAX_SAFE_INTEGER);
  return { current, number, duplicates: same.slice(0, -1), old };
}

/** By number; among equals by age and name, so that every reader has the same order. */
export const oldestFirst = (revisions: readonly ControllerRevision[]): ControllerRevision[] =>
  [...revisions].sort((a, b) => a.revision - b.revision || (ageOf(a) < ageOf(b) ? -1 : 1));

const ageOf = ({ metadata }: ControllerRevision) => `${metadata.creationTimestamp} ${metadata.name}`;
