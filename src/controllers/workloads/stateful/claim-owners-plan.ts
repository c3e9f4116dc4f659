/**
 * Plans the owners of the claims of a StatefulSet's pods, with which the claims are deleted: its
 * persistentVolumeClaimRetentionPolicy (k8s.io/kubernetes pkg/controller/statefulset). Pure.
 */
import { type StatefulSet, statefulSetResource } from '../../../api/apps/v1/stateful-set.ts';
import { podResource } from '../../../api/core/v1/pod/pod.ts';
import type { KubeObject, OwnerReference } from '../../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';

/** A pod of the set. `surplus` is true if its ordinal is beyond the wanted ones. */
export interface ClaimUser {
  readonly pod: KubeObject;
  readonly surplus: boolean;
}

export interface ClaimOwners {
  readonly owners: readonly OwnerReference[];
  /** True if another controller owns the claim, so that it is left alone. */
  readonly conflict: boolean;
}

/**
 * Returns the owners, or undefined if they are already correct, or belong to an earlier set or pod and are
 * left to the garbage collector.
 */
export function planOwners(
  owners: readonly OwnerReference[],
  set: StatefulSet,
  { pod, surplus }: ClaimUser,
): ClaimOwners | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy;
  const ofSet = named(statefulSetResource, set.metadata.name);
  const ofPod = named(podResource, pod.metadata.name);
  const ours = owners.filter((one) => ofSet(one) || ofPod(one));
  const others = owners.filter((one) => !ours.includes(one));
  const uids = [set.metadata.uid, pod.metadata.uid];
  if (ours.some(({ uid }) => !uids.includes(uid))) return undefined;
  const retains = whenDeleted === 'Retain' && whenScaled === 'Retain';
  if (!retains && others.some(({ controller }) => controller))
    return ours.length > 0 ? { owners: others, conflict: true } : undefined;
  const wanted = wantedOwners(set, { pod, surplus });
  const same =
    ours.length === wanted.length &&
    ours.every((one) => one.controller && wanted.some(({ uid }) => uid === one.uid));
  return same ? undefined : { owners: [...others, ...wanted], conflict: false };
}

function wantedOwners(set: StatefulSet, { pod, surplus }: ClaimUser): OwnerReference[] {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy;
  if (whenScaled === 'Delete' && surplus) return [controllerReference(podResource, pod)];
  return whenDeleted === 'Delete' ? [controllerReference(statefulSetResource, set)] : [];
}

/**
 * Returns true if a claim is about to be deleted with an earlier pod of the same name; the next pod must not
 * use that claim.
 */
export const goesWithPod = (owners: readonly OwnerReference[], set: StatefulSet, pod: string) =>
  set.spec.persistentVolumeClaimRetentionPolicy.whenScaled === 'Delete' &&
  owners.some(named(podResource, pod));

const named =
  (kind: ResourceRef, name: string) =>
  (owner: OwnerReference): boolean =>
    owner.apiVersion === apiVersionOf(kind) && owner.kind === kind.kind && owner.name === name;
