/** PersistentVolumes and PersistentVolumeClaims. */

import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../api/core/v1/volume/persistent-volume-claim.ts';
import { conditions } from '../condition-samples.ts';
import { fact, gauge, gauges, info, objectMetrics, states } from '../family.ts';
import { created, deletionTimestamp, named, namespaced } from '../metadata-families.ts';
import { wholeUnitsOf } from '../resource-units.ts';

/** Annotation that had the class before the field existed. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Returns the labels of the volume's source; empty values for all other sources. */
const sourceLabels = ({ spec }: PersistentVolume) => ({
  gce_persistent_disk_name: text(spec.gcePersistentDisk?.pdName),
  ebs_volume_id: text(spec.awsElasticBlockStore?.volumeID),
  azure_disk_name: text(spec.azureDisk?.diskName),
  fc_wwids: text(spec.fc?.wwids?.join(',')),
  fc_lun: numbered(spec.fc?.lun),
  fc_target_wwns: text(spec.fc?.targetWWNs?.join(',')),
  iscsi_target_portal: text(spec.iscsi?.targetPortal),
  iscsi_iqn: text(spec.iscsi?.iqn),
  iscsi_lun: numbered(spec.iscsi?.lun),
  iscsi_initiator_name: text(spec.iscsi?.initiatorName),
  nfs_server: text(spec.nfs?.server),
  nfs_path: text(spec.nfs?.path),
  csi_driver: text(spec.csi?.driver),
  csi_volume_handle: text(spec.csi?.volumeHandle),
  local_path: text(spec.local?.path),
  local_fs: text(spec.local?.fsType),
  host_path: text(spec.hostPath?.path),
  host_path_type: text(spec.hostPath?.type),
});

const text = (value: string | undefined) => value ?? '';
const numbered = (value: number | undefined) => (value === undefined ? '' : String(value));

export const persistentVolumes = objectMetrics<PersistentVolume>({
  ref: persistentVolumeResource,
  labelsOf: named('persistentvolume'),
  families: [
    info('kube_persistentvolume_info', 'Source and storage class of the volume.', (volume) => ({
      storageclass: volume.spec.storageClassName ?? '',
      ...sourceLabels(volume),
      reclaim_policy: volume.spec.persistentVolumeReclaimPolicy ?? '',
    })),
    created('kube_persistentvolume'),
    deletionTimestamp('kube_persistentvolume'),
    info('kube_persistentvolume_claim_ref', 'Claim that the volume is bound to.', ({ spec: { claimRef } }) =>
      claimRef ? { name: claimRef.name ?? '', claim_namespace: claimRef.namespace ?? '' } : undefined,
    ),
    states(
      'kube_persistentvolume_status_phase',
      'The phase of the volume.',
      'phase',
      ['Pending', 'Available', 'Bound', 'Released', 'Failed'],
      ({ status }) => status?.phase,
    ),
    gauge(
      'kube_persistentvolume_capacity_bytes',
      'Capacity of the volume, in bytes.',
      ({ spec }) => wholeUnitsOf(spec.capacity?.storage) ?? 0,
    ),
    info('kube_persistentvolume_volume_mode', 'Volume mode: file system or block device.', ({ spec }) => ({
      volumemode: spec.volumeMode ?? 'Filesystem',
    })),
  ],
});

export const persistentVolumeClaims = objectMetrics<PersistentVolumeClaim>({
  ref: persistentVolumeClaimResource,
  labelsOf: namespaced('persistentvolumeclaim'),
  families: [
    info(
      'kube_persistentvolumeclaim_info',
      'Volume and storage class of the claim.',
      ({ metadata, spec }) => ({
        storageclass: metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '',
        volumename: spec.volumeName ?? '',
        volumemode: spec.volumeMode ?? '',
      }),
    ),
    created('kube_persistentvolumeclaim'),
    deletionTimestamp('kube_persistentvolumeclaim'),
    states(
      'kube_persistentvolumeclaim_status_phase',
      'The phase of the claim.',
      'phase',
      ['Lost', 'Bound', 'Pending'],
      ({ status }) => status?.phase,
    ),
    gauge(
      'kube_persistentvolumeclaim_resource_requests_storage_bytes',
      'Requested storage, in bytes.',
      ({ spec }) => wholeUnitsOf(spec.resources?.requests?.storage),
    ),
    gauges('kube_persistentvolumeclaim_access_mode', 'Access modes of the claim.', ({ spec }) =>
      (spec.accessModes ?? []).map((mode) => fact({ access_mode: mode })),
    ),
    conditions(
      'kube_persistentvolumeclaim_status_condition',
      'The conditions of the claim.',
      ({ status }) => status?.conditions,
    ),
  ],
});
