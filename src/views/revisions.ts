/**
 * The earlier templates of a workload: a Deployment keeps them in ReplicaSets, other workloads in
 * ControllerRevisions (kubectl's polymorphichelpers). Pure.
 */
import { deepEqual, type JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../apimachinery/fields.ts';
import { parseInt64 } from '../apimachinery/int64.ts';
import { traceAnnotation } from '../apimachinery/trace-note.ts';

export interface Revision {
  readonly number: bigint;
  readonly cause: string;
  readonly template: JsonObject;
  /** The object in which the workload keeps the revision. */
  readonly item: JsonObject;
}

interface Keeper {
  /** The resource in which the workload keeps its revisions. */
  readonly resource: string;
  numberOf(item: JsonObject): bigint | undefined;
  templateOf(item: JsonObject): JsonObject;
}

/** Annotation of a Deployment and of its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const causeAnnotation = 'kubernetes.io/change-cause';

const inReplicaSets: Keeper = {
  resource: 'replicasets.apps',
  numberOf: (item) => parseInt64(metadataOf(item).annotations[revisionAnnotation]),
  templateOf: (item) => plainTemplate(recordAt(item, 'spec', 'template')),
};

const inControllerRevisions: Keeper = {
  resource: 'controllerrevisions.apps',
  numberOf: (item) => {
    const number = valueAt(item, 'revision');
    return typeof number === 'bigint' ? number : parseInt64(String(number));
  },
  templateOf: (item) => {
    const { $patch: _, ...template } = recordAt(item, 'data', 'spec', 'template');
    return plainTemplate(template);
  },
};

const keepers: ReadonlyMap<string, Keeper> = new Map([
  ['Deployment', inReplicaSets],
  ['DaemonSet', inControllerRevisions],
  ['StatefulSet', inControllerRevisions],
]);

/** Returns the resource in which workloads of a kind keep their revisions; undefined for other kinds. */
export const revisionKeeper = (kind: string): string | undefined => keepers.get(kind)?.resource;

/**
 * Returns the revisions of a workload, oldest first. `items` are objects of the resource that keeps them; the
 * workload must have its `kind`.
 */
export function revisionsAmong(workload: JsonObject, items: readonly JsonObject[]): Revision[] {
  const keeper = keepers.get(textAt(workload, 'kind'));
  if (!keeper) return [];
  const { uid } = metadataOf(workload);
  return items
    .filter((item) => recordsAt(item, 'metadata', 'ownerReferences').some((owner) => owner.uid === uid))
    .map((item) => ({
      number: keeper.numberOf(item) ?? 0n,
      cause: metadataOf(item).annotations[causeAnnotation] ?? '<none>',
      template: keeper.templateOf(item),
      item,
    }))
    .filter(({ number }) => number > 0n)
    .sort((a, b) => (a.number < b.number ? -1 : 1));
}

/** Returns the revision with that number; for 0 the one before the newest. */
export function chooseRevision(revisions: readonly Revision[], wanted: bigint): Revision {
  const found = wanted > 0n ? findRevision(revisions, wanted) : revisions.at(-2);
  if (found) return found;
  throw new Error(
    wanted > 0n
      ? `unable to find specified revision ${wanted} in history`
      : 'no rollout history found: there is no earlier revision',
  );
}

export const findRevision = (revisions: readonly Revision[], wanted: bigint) =>
  revisions.find(({ number }) => number === wanted);

/**
 * Returns the workload at a revision: for a Deployment its ReplicaSet, for other workloads the workload
 * itself with that template.
 */
export function revisionAsObject(object: JsonObject, { item, template }: Revision): JsonObject {
  if (object.kind === 'Deployment') return { apiVersion: object.apiVersion, kind: 'ReplicaSet', ...item };
  return { ...object, spec: { ...recordAt(object, 'spec'), template } };
}

/** Annotations about the current Deployment or its ReplicaSet, not about the template. */
const ownAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  traceAnnotation,
  'deprecated.deployment.rollback.to',
]);

/**
 * Returns a JSON patch that restores the workload; for a Deployment including its annotations, such as the
 * cause of the change.
 */
export function patchTo(object: JsonObject, { item, template }: Revision): JsonObject[] {
  const ofTemplate = { op: 'replace', path: '/spec/template', value: template };
  if (object.kind !== 'Deployment') return [ofTemplate];
  const some = (from: JsonObject, own: boolean) =>
    Object.entries(metadataOf(from).annotations).filter(([key]) => ownAnnotations.has(key) === own);
  const value = Object.fromEntries([...some(object, true), ...some(item, false)]);
  return [ofTemplate, { op: 'add', path: '/metadata/annotations', value }];
}

export const isTemplateOf = (object: JsonObject, { template }: Revision): boolean =>
  deepEqual(plainTemplate(recordAt(object, 'spec', 'template')), template);

/** Removes the label that identifies the pods of a ReplicaSet, and the null time that Go writes. */
function plainTemplate(template: JsonObject): JsonObject {
  const { creationTimestamp: _time, ...metadata } = recordAt(template, 'metadata');
  const { 'pod-template-hash': _hash, ...labels } = recordAt(metadata, 'labels');
  return { ...template, metadata: { ...metadata, labels } };
}
