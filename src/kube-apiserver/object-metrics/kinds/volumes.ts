/** PersistentVolumes and PersistentVolumeClaims. */

import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../api/core/v1/volume/persistent-volume-claim.ts';
import { conditions } from '../condition-samples.ts';
import { fact, gauge, gauges, info, objectMetrics, states } from '../family.ts';
import { created, deletionTimestamp, named, namespaced } from '../metadata-families.ts';
import { wholeUnitsOf } from '../resource-units.ts';

/** Annotation from before the field existed. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Returns the labels of the volume's source; empty values for all other sources. */
const sourceLabels = ({ spec }: PersistentVolume) => ({
  gce_persistent_disk_name: spec.gcePersistentDisk?.pdName ?? '',
  ebs_volume_id: spec.awsElasticBlockStore?.volumeID ?? '',
  azure_disk_name: spec.azureDisk?.diskName ?? '',
  fc_wwids: spec.fc?.wwids?.join(',') ?? '',
  fc_lun: numbered(spec.fc?.lun),
  fc_target_wwns: spec.fc?.targetWWNs?.join(',') ?? '',
  iscsi_target_portal: spec.iscsi?.targetPortal ?? '',
  iscsi_iqn: spec.iscsi?.iqn ?? '',
  iscsi_lun: numbered(spec.iscsi?.lun),
  iscsi_initiator_name: spec.iscsi?.initiatorName ?? '',
  nfs_server: spec.nfs?.server ?? '',
  nfs_path: spec.nfs?.path ?? '',
  csi_driver: spec.csi?.driver ?? '',
  csi_volume_handle: spec.csi?.volumeHandle ?? '',
  local_path: spec.local?.path ?? '',
  local_fs: spec.local?.fsType ?? '',
  host_path: spec.hostPath?.path ?? '',
  host_path_type: spec.hostPath?.type ?? '',
});

const numbered = (value: number | undefined) => (value === undefined ? '' : String(value));

export const persistentVolumes = objectMetrics<PersistentVolume>({
  ref: persistentVolumeResource,
  labelsOf: named('persistentvolume'),
  families: [
    info('kube_persistentvolume_info', 'Where the volume is, and of which class.', (volume) => ({
      storageclass: volume.spec.storageClassName ?? '',
      ...sourceLabels(volume),
      reclaim_policy: volume.spec.persistentVolumeReclaimPolicy ?? '',
    })),
    created('kube_persistentvolume'),
    deletionTimestamp('kube_persistentvolume'),
    info('kube_persistentvolume_claim_ref', 'The claim that has the volume.', ({ spec: { claimRef } }) =>
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
      'How large the volume is, in bytes.',
      ({ spec }) => wholeUnitsOf(spec.capacity?.storage) ?? 0,
    ),
    info(
      'kube_persistentvolume_volume_mode',
      'Whether the volume is a file system or a device.',
      ({ spec }) => ({ volumemode: spec.volumeMode ?? 'Filesystem' }),
    ),
  ],
});

export const persistentVolumeClaims = objectMetrics<PersistentVolumeClaim>({
  ref: persistentVolumeClaimResource,
  labelsOf: namespaced('persistentvolumeclaim'),
  families: [
    info(
      'kube_persistentvolumeclaim_info',
      'The volume of the claim, and of which class.',
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
      'How much storage is asked for, in bytes.',
      ({ spec }) => wholeUnitsOf(spec.resources?.requests?.storage),
    ),
    gauges('kube_persistentvolumeclaim_access_mode', 'How the claim may be used.', ({ spec }) =>
      (spec.accessModes ?? []).map((mode) => fact({ access_mode: mode })),
    ),
    conditions(
      'kube_persistentvolumeclaim_status_condition',
      'The conditions of the claim.',
      ({ status }) => status?.conditions,
    ),
  ],
});
