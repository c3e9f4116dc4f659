/** Identity of a StatefulSet's pods: name, host name, labels and the claims of each pod. Pure. */
import { type StatefulSet, statefulSetResource } from '../../../api/apps/v1/stateful-set.ts';

import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim, PodTemplateSpec, Volume } from '../../../api/core/v1/types.gen.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { podDraft } from '../pods/pod-draft.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';

const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

/** Returns the first ordinal, and the one after the last. */
export function ordinals({ spec }: StatefulSet): { readonly start: number; readonly end: number } {
  const start = spec.ordinals?.start ?? 0;
  return { start, end: start + spec.replicas };
}

/** Returns the ordinal, or undefined for a pod whose name does not belong to the set. */
export function ordinalOf(set: StatefulSet, { metadata: { name } }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

export const podNameOf = ({ metadata }: StatefulSet, ordinal: number) => `${metadata.name}-${ordinal}`;

export const revisionOf = ({ metadata }: Pod) => metadata.labels?.[revisionLabel];

/** Returns the pod of an ordinal. `revision` is the name of the ControllerRevision of the template. */
export function statefulPod(
  set: StatefulSet,
  template: PodTemplateSpec,
  revision: string,
  ordinal: number,
): Draft<Pod> {
  const name = podNameOf(set, ordinal);
  const draft = podDraft(statefulSetResource, set, template, name);
  const { metadata, spec } = draft;
  const { serviceName } = set.spec;
  return {
    ...draft,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...identityLabels(name, ordinal), [revisionLabel]: revision },
    },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
      ...withClaims(set, spec.volumes, ordinal),
    },
  };
}

const identityLabels = (name: string, ordinal: number) => ({
  [podNameLabel]: name,
  [podIndexLabel]: String(ordinal),
});

function withClaims(set: StatefulSet, volumes: readonly Volume[] | undefined, ordinal: number) {
  const { volumeClaimTemplates = [] } = set.spec;
  if (volumeClaimTemplates.length === 0) return volumes && { volumes: [...volumes] };
  const claimed = volumeClaimTemplates.map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: claimNameOf(set, name, ordinal) },
  }));
  const names = new Set(claimed.map(({ name }) => name));
  return { volumes: [...claimed, ...(volumes ?? []).filter(({ name }) => !names.has(name))] };
}

/**
 * Returns the corrected pod, or undefined if it is correct. Its volumes are immutable; the server rejects
 * such a change.
 */
export function mendedPod(set: StatefulSet, pod: Pod, ordinal: number): Pod | undefined {
  const { name, labels } = pod.metadata;
  const claimed = new Map(
    pod.spec.volumes?.map((volume) => [volume.name, volume.persistentVolumeClaim?.claimName]),
  );
  const hasClaims = (set.spec.volumeClaimTemplates ?? []).every(
    (claim) => claimed.get(claim.metadata.name) === claimNameOf(set, claim.metadata.name, ordinal),
  );
  if (labels?.[podNameLabel] === name && hasClaims) return undefined;
  const next = deepCopy(pod);
  next.metadata.labels = { ...labels, ...identityLabels(name, ordinal) };
  if (!hasClaims) Object.assign(next.spec, withClaims(set, pod.spec.volumes, ordinal));
  return next;
}

const claimNameOf = ({ metadata }: StatefulSet, template: string, ordinal: number) =>
  `${template}-${metadata.name}-${ordinal}`;

/** Returns true if a claim of that name belongs to the set. */
export const hasClaim = ({ metadata, spec }: StatefulSet, claim: string) =>
  (spec.volumeClaimTemplates ?? []).some((template) => {
    const prefix = `${template.metadata.name}-${metadata.name}-`;
    return claim.startsWith(prefix) && /^\d+$/.test(claim.slice(prefix.length));
  });

export interface WantedClaim {
  readonly name: string;
  readonly template: PersistentVolumeClaim;
}

/** Returns the claims of the pod of an ordinal, in the order of their templates. */
export const claimsOf = (set: StatefulSet, ordinal: number): WantedClaim[] =>
  (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    name: claimNameOf(set, template.metadata.name, ordinal),
    template,
  }));

export function claimDraft(set: StatefulSet, { name, template }: WantedClaim): Draft<PersistentVolumeClaim> {
  const { labels, annotations, finalizers } = template.metadata;
  return deepCopy({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: { ...labels, ...set.spec.selector.matchLabels },
      annotations,
      finalizers,
    },
    spec: template.spec,
  });
}
