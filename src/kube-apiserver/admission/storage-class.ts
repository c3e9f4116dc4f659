/**
 * Applies StorageClasses to claims: a claim that names no class gets the default one (upstream:
 * DefaultStorageClass), and a bound claim may only grow if its class allows it (upstream:
 * PersistentVolumeClaimResize).
 */

import type { PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { classNameOf } from '../../api/core/v1/volume/columns.ts';
import { defaultStorageClass, storageClassResource } from '../../api/storage/v1/storage-class.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';
import { compareQuantities, tryParseQuantity, zeroQuantity } from '../../apimachinery/quantity.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

type Reader = Pick<ServerContext, 'cache' | 'store'>;

export const storageClasses = (server: Reader): AdmissionPlugin => ({
  name: 'StorageClass',
  mutate(admission) {
    if (!isClaim(admission) || admission.operation !== 'create') return;
    const claim = admission.object as PersistentVolumeClaim;
    if (classNameOf(claim) !== undefined) return;
    const found = defaultStorageClass(
      server.cache.list(storagePrefix(storageClassResource)).map(({ object }) => object as StorageClass),
    );
    if (found) claim.spec.storageClassName = found.metadata.name;
  },
  async validate(admission) {
    if (!isClaim(admission) || !admission.old) return;
    const [claim, old] = [admission.object, admission.old] as [PersistentVolumeClaim, PersistentVolumeClaim];
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    const refuse = (why: string) => newForbidden(admission.definition, admission.name, why);
    if (old.status?.phase !== 'Bound') throw refuse('Only bound persistent volume claims can be expanded');
    if (await mayGrow(server, claim, old)) return;
    throw refuse(
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
});

const isClaim = ({ definition, subresource, object }: Admission) =>
  definition.group === '' &&
  definition.plural === 'persistentvolumeclaims' &&
  subresource === '' &&
  object !== undefined;

const sizeOf = ({ spec }: PersistentVolumeClaim) =>
  tryParseQuantity(spec.resources.requests?.storage ?? '0') ?? zeroQuantity;

async function mayGrow(
  server: Reader,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): Promise<boolean> {
  const name = classNameOf(claim);
  if (!name || name !== classNameOf(old)) return false;
  return (await findObject(server, storageClassResource, '', name))?.allowVolumeExpansion ?? false;
}
