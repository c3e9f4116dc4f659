/** ControllerRevision: a state of a DaemonSet or StatefulSet to which it can be rolled back. */
import { deepEqual, isRecord } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { controllerOf } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import type { ControllerRevision } from './types.gen.ts';

export type { ControllerRevision } from './types.gen.ts';

/** Returns the owner, such as `statefulset.apps/web`; without a dot for the core group. */
function ownerText(revision: ControllerRevision): string {
  const owner = controllerOf(revision);
  if (!owner) return none;
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
  return `${owner.kind.toLowerCase()}${group && `.${group}`}/${owner.name}`;
}

export const controllerRevisionResource: ResourceDefinition<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'apps.v1.ControllerRevision',
  rules: {
    'apps.v1.ControllerRevision': { mayLack: 'data', defaults: { revision: 0 }, limits: { revision: [0] } },
  },
  strategy: {
    validate: ({ data }) => {
      if (data === undefined) return [requiredCause('data', 'data is mandatory')];
      return isRecord(data) ? [] : [requiredCause('data', 'data must be a valid JSON object')];
    },
    validateUpdate: ({ data }, old) =>
      deepEqual(data, old.data) ? [] : [invalidCause('data', data, 'field is immutable')],
    countsGenerations: false,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Controller',
      type: 'string',
      description: 'The object that owns the revision.',
      cell: ownerText,
    },
    {
      name: 'Revision',
      type: 'string',
      description: 'Number of the revision.',
      cell: ({ revision }) => revision,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
