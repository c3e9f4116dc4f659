/** StorageVersionMigration: a request to store all objects of a kind in its current version. */
import { findCondition } from '../../../apimachinery/conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { nameColumn } from '../../columns.ts';
import { validateConditions } from '../../conditions.ts';
import type { StorageVersionMigration } from './types.gen.ts';

export type { StorageVersionMigration } from './types.gen.ts';

const conditionsPath = 'status.conditions';
const outcomes = ['Succeeded', 'Failed'] as const;
type MigrationCondition = (typeof outcomes)[number] | 'Running';

/** Returns whether the condition is true. */
export const migrationIs = ({ status }: StorageVersionMigration, type: MigrationCondition): boolean =>
  findCondition(status?.conditions, type)?.status === 'True';

/** Returns whether the migration has succeeded or failed. */
export const isMigrationOver = (migration: StorageVersionMigration): boolean =>
  outcomes.some((type) => migrationIs(migration, type));

function validate({ spec }: StorageVersionMigration): StatusCause[] {
  const { group, resource } = spec.resource;
  const path = 'spec.resource';
  return [
    ...(resource === ''
      ? [requiredCause(`${path}.resource`, 'resource is required to be set')]
      : nameCauses(`${path}.resource`, resource, checkDns1035Label)),
    ...(group === '' ? [] : nameCauses(`${path}.group`, group, checkDns1123Subdomain)),
  ];
}

const validateUpdate = ({ spec }: StorageVersionMigration, old: StorageVersionMigration): StatusCause[] =>
  deepEqual(spec, old.spec) ? [] : [invalidCause('spec', spec, 'field is immutable')];

function validateStatus(migration: StorageVersionMigration, old: StorageVersionMigration): StatusCause[] {
  const { conditions = [], resourceVersion = '' } = migration.status ?? {};
  const before = old.status?.resourceVersion ?? '';
  const path = 'status.resourceVersion';
  const refuse = (why: string) => [invalidCause(conditionsPath, conditions, why)];
  return [
    ...(resourceVersion === '' || /^(?:0|[1-9]\d*)$/.test(resourceVersion)
      ? []
      : [invalidCause(path, resourceVersion, 'resource version is not well formed')]),
    ...validateConditions(conditions, conditionsPath),
    ...(before === '' || before === resourceVersion
      ? []
      : [invalidCause(path, resourceVersion, 'field is immutable')]),
    ...(outcomes.every((type) => migrationIs(migration, type))
      ? refuse('Both success and failed conditions cannot be true at the same time')
      : []),
    ...outcomes.flatMap((type) =>
      migrationIs(old, type) && !migrationIs(migration, type)
        ? refuse(
            `${type === 'Succeeded' ? 'Success' : type} condition cannot be set to false once it is true`,
          )
        : [],
    ),
  ];
}

/** Returns the last condition that is true. */
const stateOf = ({ status }: StorageVersionMigration): string =>
  status?.conditions?.findLast(
    ({ type, status: is }) => is === 'True' && ['Running', ...outcomes].includes(type),
  )?.type ?? 'Unknown';

export const storageVersionMigrationResource: ResourceDefinition<StorageVersionMigration> = {
  group: 'storagemigration.k8s.io',
  version: 'v1',
  kind: 'StorageVersionMigration',
  plural: 'storageversionmigrations',
  singular: 'storageversionmigration',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'storagemigration.v1.StorageVersionMigration',
  rules: {
    'storagemigration.v1.StorageVersionMigration': { defaults: { spec: {} } },
    'storagemigration.v1.StorageVersionMigrationSpec': { defaults: { resource: {} } },
    'storagemigration.v1.StorageVersionMigrationStatus': {},
    'meta.v1.GroupResource': { defaults: { group: '', resource: '' } },
  },
  strategy: { validate, validateUpdate, validateStatus, countsGenerations: false, updatesNameVersion: true },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Resource',
      type: 'string',
      description: 'The resource whose objects are migrated.',
      cell: ({ spec: { resource } }) => [resource.resource, resource.group].filter(Boolean).join('.'),
    },
    {
      name: 'Status',
      type: 'string',
      description: 'Whether the migration is running, has succeeded or has failed.',
      cell: stateOf,
    },
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
