/**
 * Identifies and names the ReplicaSet of a pod template. Pure and stable: a template's name must never
 * change, because otherwise every restart of the control plane would roll every Deployment.
 */
import type { Deployment } from '../../../api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import type { PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import { isRecord } from '../../../apimachinery/equality.ts';
import { safeHash } from '../safe-hash.ts';

export const podTemplateHashLabel = 'pod-template-hash';

/**
 * Returns the name suffix and label of the template's ReplicaSet; `collisionCount` is 0 unless a name was
 * taken.
 */
export function templateHash(template: PodTemplateSpec, collisionCount: number | undefined): string {
  return safeHash(`${canonicalTemplate(template)}${collisionCount || ''}`);
}

export const sameTemplate = (a: PodTemplateSpec, b: PodTemplateSpec) =>
  canonicalTemplate(a) === canonicalTemplate(b);

/**
 * Returns the oldest set with the Deployment's template, so that all readers choose the same one of several.
 */
export function findNewReplicaSet(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
): ReplicaSet | undefined {
  const wanted = canonicalTemplate(deployment.spec.template);
  return oldestFirst(sets).find((set) => canonicalTemplate(set.spec.template) === wanted);
}

export function oldestFirst(sets: readonly ReplicaSet[]): ReplicaSet[] {
  const order = (set: ReplicaSet) => `${set.metadata.creationTimestamp} ${set.metadata.name}`;
  return [...sets].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/**
 * Returns the template as text: sorted keys, without absent fields and without the label that holds the hash
 * itself.
 */
function canonicalTemplate(template: PodTemplateSpec): string {
  const { labels, annotations, finalizers } = template.metadata;
  const { [podTemplateHashLabel]: _hash, ...own } = labels ?? {};
  return canonical({
    labels: own,
    annotations: annotations ?? {},
    finalizers: finalizers ?? [],
    spec: template.spec,
  });
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined && inner !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
