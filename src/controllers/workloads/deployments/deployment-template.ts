/**
 * How a Deployment recognises and names the ReplicaSet of a pod template. Pure and stable: a template's name
 * never changes, or every restart of the control plane would roll every Deployment.
 */
import type { Deployment } from '../../../api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import type { PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import { isRecord } from '../../../apimachinery/equality.ts';
import { safeHash } from '../safe-hash.ts';

export const podTemplateHashLabel = 'pod-template-hash';

/** The name suffix and label of the ReplicaSet of this template; `collisionCount` is 0 unless a name was taken. */
export function templateHash(template: PodTemplateSpec, collisionCount: number | undefined): string {
  return safeHash(`${canonicalTemplate(template)}${collisionCount || ''}`);
}

export const sameTemplate = (a: PodTemplateSpec, b: PodTemplateSpec) =>
  canonicalTemplate(a) === canonicalTemplate(b);

/** The oldest set with the Deployment's template: only the oldest, so that of several every reader takes the same. */
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

/** The template as text: keys sorted, what is absent left out, without the label that the hash itself becomes. */
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
