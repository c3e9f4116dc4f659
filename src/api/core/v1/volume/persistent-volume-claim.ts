/** PersistentVolumeClaim: a pod's request for storage. */

import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../../columns.ts';
import { roundResources } from '../pod/spec-defaults.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../types.gen.ts';
import { claimSpecWarnings } from './claim-warnings.ts';
import { className, classWarnings, modesText, phaseText, unset } from './columns.ts';
import {
  validateClaimSpec,
  validateClaimStatus,
  validateClaimUpdate,
} from './persistent-volume-claim-validation.ts';

/** Synchronizes the two fields for the data source; the older field only supports two kinds. */
function settleSources(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): void {
  // Data of another namespace requires a grant, which upstream does not support by default, either.
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!hadSource && !spec.dataSourceRef && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { namespace: _, ...source } = spec.dataSourceRef;
    spec.dataSource = source;
  }
}

function isClaimOrSnapshot(source: PersistentVolumeClaimSpec['dataSource']): boolean {
  const { apiGroup = '', kind } = source ?? {};
  return kind === 'PersistentVolumeClaim'
    ? apiGroup === ''
    : kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
}

export const persistentVolumeClaimResource: ResourceDefinition<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.PersistentVolumeClaim',
  rules: {
    'core.v1.PersistentVolumeClaim': { defaults: { spec: {} } },
    'core.v1.PersistentVolumeClaimSpec': {
      acts: 'accessModes selector resources volumeName storageClassName volumeMode dataSource dataSourceRef',
      defaults: { volumeMode: 'Filesystem', resources: {} },
    },
    'core.v1.VolumeResourceRequirements': {},
    'core.v1.TypedObjectReference': { defaults: { kind: '', name: '' } },
    'core.v1.PersistentVolumeClaimStatus': {
      acts: 'phase accessModes capacity conditions allocatedResources allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus',
      defaults: { phase: 'Pending' },
      choices: { phase: [] },
    },
    'core.v1.PersistentVolumeClaimCondition': { mayLack: 'type status' },
    'core.v1.ModifyVolumeStatus': { mayLack: 'status', choices: { status: [] } },
  },
  strategy: {
    setDefaults: ({ spec: { resources }, status }) => {
      for (const amounts of [resources.requests, resources.limits, status?.capacity]) roundResources(amounts);
    },
    prepareForCreate: (claim) => {
      settleSources(claim.spec);
      claim.status = { phase: 'Pending' };
    },
    prepareForUpdate: ({ spec }, old) => {
      settleSources(spec, old.spec);
    },
    validate: ({ spec }) => validateClaimSpec(spec, 'spec'),
    validateUpdate: validateClaimUpdate,
    validateStatus: validateClaimStatus,
    warnings: ({ metadata, spec }) => [...classWarnings(metadata), ...claimSpecWarnings(spec, 'spec')],
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'Whether the claim is pending, bound to a volume, or has lost it.',
      cell: ({ metadata, status }) => phaseText(metadata, status?.phase),
    },
    {
      name: 'Volume',
      type: 'string',
      description: 'The volume that the claim is bound to.',
      cell: ({ spec }) => spec.volumeName ?? '',
    },
    {
      name: 'Capacity',
      type: 'string',
      description: 'Capacity of the volume.',
      cell: ({ spec, status }) => (spec.volumeName ? (status?.capacity?.storage ?? '0') : ''),
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'Access modes of the volume.',
      cell: ({ spec, status }) => (spec.volumeName ? modesText(status?.accessModes) : ''),
    },
    {
      name: 'StorageClass',
      type: 'string',
      description: 'The requested StorageClass.',
      cell: ({ metadata, spec }) => className({ metadata, spec }),
    },
    {
      name: 'VolumeAttributesClass',
      type: 'string',
      description: 'The requested VolumeAttributesClass.',
      cell: ({ spec }) => spec.volumeAttributesClassName ?? unset,
    },
    ageColumn,
    {
      name: 'VolumeMode',
      type: 'string',
      priority: 1,
      description: 'Whether a file system or a block device is requested.',
      cell: ({ spec }) => spec.volumeMode,
    },
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
