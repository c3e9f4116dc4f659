/**
 * CSIStorageCapacity: the available capacity for volumes of a class on some nodes. It is stored; the
 * scheduler does not use it yet.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import { validateQuantity } from '../../../apimachinery/quantity.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { nameColumn } from '../../columns.ts';
import { deprecationOf, expressionWarnings } from '../../core/v1/deprecated-labels.ts';
import { unset } from '../../core/v1/volume/columns.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { storageGroup } from './storage-class.ts';
import type { CSIStorageCapacity } from './types.gen.ts';

function validate({ nodeTopology, storageClassName, capacity }: CSIStorageCapacity): StatusCause[] {
  return [
    ...(nodeTopology ? validateLabelSelector(nodeTopology, 'nodeTopology') : []),
    ...nameCauses('storageClassName', storageClassName, checkDns1123Subdomain),
    ...(capacity === undefined ? [] : validateQuantity('capacity', capacity)),
  ];
}

/** Rejects changes of the fields that identify the capacity; the capacity itself may change. */
function validateUpdate(object: CSIStorageCapacity, old: CSIStorageCapacity): StatusCause[] {
  return (['nodeTopology', 'storageClassName'] as const)
    .filter((field) => !deepEqual(object[field], old[field]))
    .map((field) => invalidCause(field, object[field], 'field is immutable'));
}

function labelWarnings({ nodeTopology }: CSIStorageCapacity): string[] {
  const labels = Object.keys(nodeTopology?.matchLabels ?? {}).flatMap((label) => {
    const why = deprecationOf(label);
    return why === undefined ? [] : [`nodeTopology.matchLabels.${label}: ${why}`];
  });
  return [...expressionWarnings(nodeTopology?.matchExpressions, 'nodeTopology.matchExpressions'), ...labels];
}

export const csiStorageCapacityResource: ResourceDefinition<CSIStorageCapacity> = {
  group: storageGroup,
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'storage.v1.CSIStorageCapacity',
  rules: { 'storage.v1.CSIStorageCapacity': { defaults: { storageClassName: '' } } },
  strategy: {
    validate,
    validateUpdate,
    warnings: labelWarnings,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'StorageClassName',
      type: 'string',
      description: 'The class of the volumes that the capacity is for.',
      cell: ({ storageClassName }) => storageClassName,
    },
    {
      name: 'Capacity',
      type: 'string',
      description: 'Available capacity.',
      cell: ({ capacity }) => capacity ?? unset,
    },
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
