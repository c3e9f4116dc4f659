/** CSINode: the storage drivers of a node. It is stored; drivers are not called yet. */
import { deepEqual, repeats } from '../../../apimachinery/equality.ts';
import { duplicateCause, invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { nonNegative } from '../../core/v1/pod/template-validation.ts';
import { validateDriverName } from '../../core/v1/volume/persistent-volume-sources.ts';
import { storageGroup } from './storage-class.ts';
import type { CSINode, CSINodeDriver } from './types.gen.ts';

const maxNodeIdBytes = 256;

function validateDrivers({ spec: { drivers } }: CSINode): StatusCause[] {
  const seen = new Set<string>();
  return drivers.flatMap((driver, index) => {
    const path = `spec.drivers[${index}]`;
    const twice = seen.has(driver.name) ? [duplicateCause(`${path}.name`, driver.name)] : [];
    seen.add(driver.name);
    return [
      ...validateDriverName(driver.name, `${path}.name`),
      ...validateNodeId(driver.nodeID, `${path}.nodeID`),
      ...nonNegative(driver.allocatable?.count, `${path}.allocatable.count`),
      ...twice,
      ...validateTopologyKeys(driver, path),
    ];
  });
}

function validateNodeId(id: string, path: string): StatusCause[] {
  if (id === '') return [requiredCause(path)];
  const tooLong = Buffer.byteLength(id) > maxNodeIdBytes;
  return tooLong ? [invalidCause(path, id, `must be ${maxNodeIdBytes} characters or less`)] : [];
}

/** Validates topology keys; causes have the path of the driver, as upstream. */
function validateTopologyKeys({ topologyKeys = [] }: CSINodeDriver, path: string): StatusCause[] {
  const repeated = repeats(topologyKeys);
  return topologyKeys.flatMap((key, index) => [
    ...(key === '' ? [requiredCause(path)] : []),
    ...(repeated[index] ? [duplicateCause(path, key)] : []),
    ...nameCauses(path, key, checkQualifiedName),
  ]);
}

/** Rejects changes of a driver; drivers may be added and removed. */
function validateDriversUpdate({ spec }: CSINode, { spec: old }: CSINode): StatusCause[] {
  const byName = new Map(old.drivers.map((before) => [before.name, before]));
  return spec.drivers.flatMap((driver) => {
    const before = byName.get(driver.name);
    return !before || deepEqual(driver, before)
      ? []
      : [invalidCause('CSINodeDriver', driver, 'field is immutable')];
  });
}

export const csiNodeResource: ResourceDefinition<CSINode> = {
  group: storageGroup,
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  singular: 'csinode',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'storage.v1.CSINode',
  rules: {
    'storage.v1.CSINode': { acts: 'spec', defaults: { spec: {} } },
    'storage.v1.CSINodeSpec': { defaults: { drivers: [] } },
    'storage.v1.CSINodeDriver': { defaults: { name: '' } },
    'storage.v1.VolumeNodeResources': {},
  },
  strategy: {
    validate: validateDrivers,
    validateUpdate: validateDriversUpdate,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Drivers',
      type: 'integer',
      description: 'The number of drivers on the node.',
      cell: ({ spec }) => spec.drivers.length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
