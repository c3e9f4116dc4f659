/**
 * Expands volumes that this server provisioned. They have no size limit of their own, so only the allowed
 * size is recorded (upstream: pkg/controller/volume/expand; admission decides whether a claim may request
 * more). Keys are claims.
 */

import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { isFullyBound, sizeOfClaim, sizeOfVolume } from '../../api/core/v1/volume/binding.ts';
import { isOwn } from '../../api/core/v1/volume/chores.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import { compareQuantities, parseQuantity } from '../../apimachinery/quantity.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

export const expandRights: AccountRights = {
  kubernetes: [
    ['get list watch update patch', 'core', 'persistentvolumes'],
    ['update patch', 'core', 'persistentvolumeclaims/status'],
    [read, 'core', 'persistentvolumeclaims'],
    writeEvents,
    ['get', 'core', 'services'],
  ],
};

export function expandController({ client, events, informers }: ControllerContext): ControllerDefinition {
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;
  const volumes = informers.informerFor(persistentVolumeResource).lister;

  return {
    name: 'expand',
    watches: [
      watched(persistentVolumeClaimResource, (claim) => (isFullyBound(claim) ? [objectKey(claim)] : [])),
      watched(persistentVolumeResource, ({ spec: { claimRef } }) =>
        claimRef ? [`${claimRef.namespace}/${claimRef.name}`] : [],
      ),
    ],
    async reconcile(key) {
      const claim = claims.get(key);
      const volume = claim && volumes.get(claim.spec.volumeName ?? '');
      if (claim && volume?.spec.claimRef?.uid === claim.metadata.uid && isToBeExpanded(claim))
        await expand(claim, volume);
      return undefined;
    },
  };

  async function expand(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    if (!isOwn(volume)) {
      const message = 'waiting for an external controller to expand this PVC';
      events.event(claim, 'Normal', 'ExternalExpanding', message);
      return;
    }
    // The volume is written first: if the process ends here, the step is repeated.
    if (compareQuantities(sizeOfVolume(volume), sizeOfClaim(claim)) < 0) await expandVolume(claim, volume);
    else await reportSize(claim, volume);
  }

  async function expandVolume(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const spec = { ...volume.spec, capacity: { ...volume.spec.capacity, storage: requestOf(claim) } };
    const next = client.resource(persistentVolumeResource).update({ ...volume, spec });
    await ifPresent(tolerate(next, isConflict));
  }

  async function reportSize(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const next = deepCopy(claim);
    if (next.status) next.status.capacity = { ...next.status.capacity, ...volume.spec.capacity };
    const written = client.resource(persistentVolumeClaimResource).updateStatus(next);
    if (!(await ifPresent(tolerate(written, isConflict)))) return;
    const message = `volume ${volume.metadata.name} has ${requestOf(claim)}`;
    events.event(claim, 'Normal', 'VolumeResizeSuccessful', message);
  }
}

const requestOf = ({ spec }: PersistentVolumeClaim) => spec.resources.requests?.storage ?? '0';

function isToBeExpanded(claim: PersistentVolumeClaim): boolean {
  if (claim.status?.phase !== 'Bound' || isTerminating(claim)) return false;
  const has = parseQuantity(claim.status.capacity?.storage ?? '0');
  return compareQuantities(sizeOfClaim(claim), has) > 0;
}
