/** The claims that a pod's volumes are of. */
import type { Pod } from './pod.ts';
import type { PersistentVolumeClaim, Volume } from './types.gen.ts';

/** The claim that is made for an ephemeral volume has both names. */
const ephemeralClaimName = ({ metadata }: Pod, volume: Volume) => `${metadata.name}-${volume.name}`;

/** The name of the volume's claim, in the pod's namespace; undefined for one of another kind. */
export function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined;
}

export const claimNamesOf = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);

/** Whether the claim was made for an ephemeral volume of this very pod. */
export const isOwnClaim = (pod: Pod, { metadata }: PersistentVolumeClaim) =>
  metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === pod.metadata.uid) ?? false;
