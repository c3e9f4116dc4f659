/** StorageClass: the provisioning settings of volumes. */
import type { ObjectMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { deprecationOf } from '../../core/v1/deprecated-labels.ts';
import { localNeedsNode, localProvisioner, nfsProvisioner } from '../../core/v1/volume/local-volumes.ts';
import { shareFault } from '../../core/v1/volume/nfs-share.ts';
import { validateStorageClass, validateStorageClassUpdate } from './storage-class-validation.ts';
import type { StorageClass } from './types.gen.ts';

export const storageGroup = 'storage.k8s.io';

export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** Returns true for a class that claims without a class get. */
const isDefault = ({ metadata: { annotations = {} } }: StorageClass) =>
  [defaultClassAnnotation, 'storageclass.beta.kubernetes.io/is-default-class'].some(
    (name) => annotations[name] === 'true',
  );

/** Returns the newest default class; by name if several are from the same second. */
export const defaultStorageClass = (classes: readonly StorageClass[]): StorageClass | undefined =>
  classes.filter(isDefault).toSorted((a, b) => newerFirst(a.metadata, b.metadata))[0];

const newerFirst = (a: ObjectMeta, b: ObjectMeta) =>
  b.creationTimestamp.localeCompare(a.creationTimestamp) || (a.name < b.name ? -1 : 1);

const labelWarnings = ({ allowedTopologies = [] }: StorageClass): string[] =>
  allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key }, place) => {
      const why = deprecationOf(key);
      const path = `allowedTopologies[${index}].matchLabelExpressions[${place}].key`;
      return why === undefined ? [] : [`${path}: ${why}`];
    }),
  );

/** Returns warnings about settings with which minik8s cannot provision volumes of the class. */
function ownClassWarnings({ provisioner, volumeBindingMode, parameters }: StorageClass): string[] {
  const { server = '', path = '' } = parameters ?? {};
  const fault = provisioner === nfsProvisioner ? shareFault(server, path) : undefined;
  return [
    ...(provisioner === localProvisioner && volumeBindingMode === 'Immediate'
      ? [`volumeBindingMode: ${localNeedsNode}`]
      : []),
    ...(fault === undefined ? [] : [`parameters.${fault}`]),
  ];
}

export const storageClassResource: ResourceDefinition<StorageClass> = {
  group: storageGroup,
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  categories: [],
  namespaced: false,
  typeName: 'storage.v1.StorageClass',
  rules: {
    'storage.v1.StorageClass': {
      defaults: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
      choices: { reclaimPolicy: ['Delete', 'Retain'] },
    },
    'core.v1.TopologySelectorTerm': {},
    'core.v1.TopologySelectorLabelRequirement': { defaults: { key: '', values: [] } },
  },
  strategy: {
    validate: validateStorageClass,
    validateUpdate: validateStorageClassUpdate,
    warnings: (storageClass) => [...labelWarnings(storageClass), ...ownClassWarnings(storageClass)],
    countsGenerations: false,
  },
  hasStatus: false,
  columns: [
    {
      ...nameColumn,
      cell: (storageClass) => `${storageClass.metadata.name}${isDefault(storageClass) ? ' (default)' : ''}`,
    },
    {
      name: 'Provisioner',
      type: 'string',
      description: 'The provisioner of the volumes.',
      cell: ({ provisioner }) => provisioner,
    },
    {
      name: 'ReclaimPolicy',
      type: 'string',
      description: 'Reclaim policy: what happens to a volume when its claim is deleted.',
      cell: ({ reclaimPolicy }) => reclaimPolicy,
    },
    {
      name: 'VolumeBindingMode',
      type: 'string',
      description: 'Whether a volume is provisioned at once or when a pod needs it.',
      cell: ({ volumeBindingMode }) => volumeBindingMode,
    },
    {
      name: 'AllowVolumeExpansion',
      type: 'string',
      description: 'Whether volumes can grow.',
      cell: ({ allowVolumeExpansion = false }) => allowVolumeExpansion,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
