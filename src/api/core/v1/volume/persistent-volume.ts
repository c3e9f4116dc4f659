/** PersistentVolume: storage of the cluster that can be bound to a claim. */
import { forbiddenCause } from '../../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import { notActedOnField } from '../../../../apimachinery/type-rules.ts';
import { ageColumn, nameColumn } from '../../../columns.ts';
import { expressionWarnings } from '../deprecated-labels.ts';
import { roundResources } from '../pod/spec-defaults.ts';
import type { PersistentVolume, PersistentVolumeStatus } from '../types.gen.ts';
import { className, classWarnings, modesText, phaseText, unset } from './columns.ts';
import { persistentSources, volumeSourceRules } from './persistent-volume-sources.ts';
import { validateVolumeSpec, validateVolumeUpdate } from './persistent-volume-validation.ts';

const mountOptions = 'volume.beta.kubernetes.io/mount-options';

/**
 * Rejects mount options for sources that do not support them (upstream: volume/validation checkMountOption).
 */
function mountOptionCauses({ metadata, spec }: PersistentVolume) {
  const { hostPath, flocker, fc, flexVolume, portworxVolume, scaleIO, local, storageos, csi } = spec;
  const without = hostPath ?? flocker ?? fc ?? flexVolume ?? portworxVolume ?? scaleIO ?? local ?? storageos;
  if ((without ?? csi) === undefined || metadata.annotations?.[mountOptions] === undefined) return [];
  const why = 'may not specify mount options for this volume type';
  return [forbiddenCause(`metadata.annotations.${mountOptions}`, why)];
}

/** Sources that Kubernetes itself no longer supports, in its order. */
const gone = [
  ['cephfs', 'cephfs: deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO: deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS: deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd: deprecated in v1.28, non-functional in v1.31+'],
] as const;

/** Sources that the node agent can mount (kubelet/volumes/kinds/persistent-source.ts). */
const mounted: readonly string[] = ['hostPath', 'local', 'nfs'];
const named: readonly string[] = gone.map(([name]) => name);

function warnings({ metadata, spec }: PersistentVolume): string[] {
  const options = `metadata.annotations[${mountOptions}]: deprecated since v1.31; use "mountOptions" attribute instead`;
  const recycle =
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return [
    ...classWarnings(metadata),
    ...(metadata.annotations?.[mountOptions] === undefined ? [] : [options]),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [recycle] : []),
    ...terms.flatMap(({ matchExpressions }, index) =>
      expressionWarnings(
        matchExpressions,
        `spec.nodeAffinity.required.nodeSelectorTerms[${index}].matchExpressions`,
      ),
    ),
    ...gone.flatMap(([name, why]) => (spec[name] === undefined ? [] : [`spec.${why}`])),
    ...persistentSources
      .filter((name) => spec[name] !== undefined && !mounted.includes(name) && !named.includes(name))
      .map((name) => notActedOnField(`spec.${name}`)),
  ];
}

/** Returns the client's time; the current time if the phase changed and the client did not set a new time. */
function transitionTime(
  { phase, lastPhaseTransitionTime: sent }: PersistentVolumeStatus,
  old: PersistentVolumeStatus | undefined,
  now: string,
): string | undefined {
  const before = old?.lastPhaseTransitionTime;
  if (phase === old?.phase) return sent ?? before;
  return sent === undefined || sent === before ? now : sent;
}

export const persistentVolumeResource: ResourceDefinition<PersistentVolume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  categories: [],
  namespaced: false,
  typeName: 'core.v1.PersistentVolume',
  rules: {
    'core.v1.PersistentVolume': { defaults: { spec: {} } },
    'core.v1.PersistentVolumeSpec': {
      acts: `${persistentSources.join(' ')} capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity`,
    },
    'core.v1.PersistentVolumeStatus': { defaults: { phase: 'Pending' }, choices: { phase: [] } },
    'core.v1.VolumeNodeAffinity': {},
    ...volumeSourceRules,
  },
  strategy: {
    setDefaults: ({ spec }) => {
      spec.persistentVolumeReclaimPolicy ??= 'Retain';
      spec.volumeMode ??= 'Filesystem';
      roundResources(spec.capacity);
    },
    prepareForCreate: (volume, { now }) => {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
    },
    prepareForStatusUpdate: ({ status }, { status: old }, { now }) => {
      if (status) status.lastPhaseTransitionTime = transitionTime(status, old, now);
    },
    validate: (volume) => [
      ...validateVolumeSpec(volume.spec, 'spec', volume.metadata.name),
      ...mountOptionCauses(volume),
    ],
    validateUpdate: ({ spec }, old) => validateVolumeUpdate(spec, old.spec),
    warnings,
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Capacity',
      type: 'string',
      description: 'Capacity of the volume.',
      cell: ({ spec }) => spec.capacity?.storage ?? '0',
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'Access modes of the volume.',
      cell: ({ spec }) => modesText(spec.accessModes),
    },
    {
      name: 'Reclaim Policy',
      type: 'string',
      description: 'Reclaim policy: what happens to the volume when its claim is deleted.',
      cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '',
    },
    {
      name: 'Status',
      type: 'string',
      description: 'Whether the volume is available, bound to a claim, or released by one.',
      cell: ({ metadata, status }) => phaseText(metadata, status?.phase),
    },
    {
      name: 'Claim',
      type: 'string',
      description: 'The claim that the volume is for, with its namespace.',
      cell: ({ spec: { claimRef } }) =>
        claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : '',
    },
    {
      name: 'StorageClass',
      type: 'string',
      description: 'The StorageClass of the volume.',
      cell: ({ metadata, spec }) => className({ metadata, spec }),
    },
    {
      name: 'VolumeAttributesClass',
      type: 'string',
      description: 'The VolumeAttributesClass of the volume.',
      cell: ({ spec }) => spec.volumeAttributesClassName ?? unset,
    },
    {
      name: 'Reason',
      type: 'string',
      description: 'Why the volume is in a failed state, in one word.',
      cell: ({ status }) => status?.reason ?? '',
    },
    ageColumn,
    {
      name: 'VolumeMode',
      type: 'string',
      priority: 1,
      description: 'Whether the volume is mounted as a file system or is a block device.',
      cell: ({ spec }) => spec.volumeMode ?? unset,
    },
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
