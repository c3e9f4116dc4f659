/** The claims of a pod's volumes. */

import type { PersistentVolumeClaim, Pod, Volume } from '../types.gen.ts';

/** Returns the name of the claim for an ephemeral volume, made from the names of the pod and the volume. */
const ephemeralClaimName = ({ metadata }: Pod, volume: Volume) => `${metadata.name}-${volume.name}`;

/** Returns the name of the volume's claim, in the pod's namespace; undefined for a volume without a claim. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined;
}

export const claimNamesOf = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);

/** Returns true if the claim was created for an ephemeral volume of this pod. */
export const isOwnClaim = (pod: Pod, { metadata }: PersistentVolumeClaim) =>
  metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === pod.metadata.uid) ?? false;
