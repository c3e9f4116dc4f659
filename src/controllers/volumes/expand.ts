/**
 * Expands volumes that this server provisioned. They have no size limit of their own, so only the allowed
 * size is recorded (upstream: pkg/controller/volume/expand; admission decides whether a claim may request
 * more). Keys are claims.
 */

import { isFullyBound, sizeOfClaim, sizeOfVolume } from '../../api/core/v1/volume/binding.ts';
import { isOwn } from '../../api/core/v1/volume/chores.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
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
      if (claim?.status?.phase !== 'Bound' || isTerminating(claim)) return undefined;
      const wanted = sizeOfClaim(claim);
      const has = parseQuantity(claim.status.capacity?.storage ?? '0');
      const volume = volumes.get(claim.spec.volumeName ?? '');
      if (compareQuantities(wanted, has) <= 0 || volume?.spec.claimRef?.uid !== claim.metadata.uid)
        return undefined;
      if (!isOwn(volume)) {
        const message = 'waiting for an external controller to expand this PVC';
        events.event(claim, 'Normal', 'ExternalExpanding', message);
        return undefined;
      }
      const storage = claim.spec.resources.requests?.storage ?? '0';
      // The volume is written first: if the process ends here, the step is repeated.
      if (compareQuantities(sizeOfVolume(volume), wanted) < 0) {
        const spec = { ...volume.spec, capacity: { ...volume.spec.capacity, storage } };
        const next = client.resource(persistentVolumeResource).update({ ...volume, spec });
        await ifPresent(tolerate(next, isConflict));
        return undefined;
      }
      const { capacity } = volume.spec;
      const status = { ...claim.status, capacity: { ...claim.status.capacity, ...capacity } };
      const written = client.resource(persistentVolumeClaimResource).updateStatus({ ...claim, status });
      if (!(await ifPresent(tolerate(written, isConflict)))) return undefined;
      events.event(
        claim,
        'Normal',
        'VolumeResizeSuccessful',
        `volume ${volume.metadata.name} has ${storage}`,
      );
      return undefined;
    },
  };
}
