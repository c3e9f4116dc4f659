/**
 * VolumeAttributesClass: settings of a storage driver that a claim may change while it is in use. It is
 * stored; drivers are not called yet.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../core/v1/types.gen.ts';
import { storageGroup } from './storage-class.ts';
import { validateParameters, validateProvisioner } from './storage-class-validation.ts';
import type { VolumeAttributesClass } from './types.gen.ts';

export type { VolumeAttributesClass } from './types.gen.ts';

/** Finalizer that keeps a class as long as a claim or a volume names it. */
export const attributesClassProtection = 'kubernetes.io/vac-protection';

function validate({ driverName, parameters = {} }: VolumeAttributesClass): StatusCause[] {
  const isEmpty = Object.keys(parameters).length === 0;
  return [
    ...validateProvisioner('driverName', driverName),
    ...validateParameters(parameters),
    ...(isEmpty ? [requiredCause('parameters', 'must contain at least one key/value pair')] : []),
  ];
}

const validateUpdate = (object: VolumeAttributesClass, old: VolumeAttributesClass): StatusCause[] =>
  (['driverName', 'parameters'] as const)
    .filter((field) => !deepEqual(object[field], old[field]))
    .map((field) => forbiddenCause(field, `updates to ${field} are forbidden.`));

/** Returns the names of the classes in a claim: requested, current, and of a change in progress. */
export function attributesClassesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
}

/** Returns the name of the class of a volume; none if it has no class. */
export const attributesClassesOfVolume = ({ spec }: PersistentVolume): readonly string[] =>
  spec.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];

export const volumeAttributesClassResource: ResourceDefinition<VolumeAttributesClass> = {
  group: storageGroup,
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  categories: [],
  namespaced: false,
  typeName: 'storage.v1.VolumeAttributesClass',
  rules: { 'storage.v1.VolumeAttributesClass': { defaults: { driverName: '' } } },
  strategy: { validate, validateUpdate, countsGenerations: false },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'DriverName',
      type: 'string',
      description: 'The driver that applies the parameters.',
      cell: ({ driverName }) => driverName,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
