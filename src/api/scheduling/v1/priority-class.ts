import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { systemClasses } from '../../core/v1/pod/priority.ts';
import type { PriorityClass } from './types.gen.ts';

export type { PriorityClass } from './types.gen.ts';

/** Maximum value of a user's class; higher values are reserved for the system. */
const maxOfUsers = 1_000_000_000;
const systemPrefix = 'system-';

function validateClass({ metadata: { name }, value, globalDefault = false }: PriorityClass): StatusCause[] {
  if (!name.startsWith(systemPrefix)) {
    const why = `maximum allowed value of a user defined priority is ${maxOfUsers}`;
    return value > maxOfUsers ? [forbiddenCause('value', why)] : [];
  }
  const fault = systemFault(name, value, globalDefault);
  if (fault === undefined) return [];
  const why = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${fault}`;
  return [forbiddenCause('metadata.name', why)];
}

function systemFault(name: string, value: number, globalDefault: boolean): string | undefined {
  const expected = systemClasses.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateUpdate(object: PriorityClass, old: PriorityClass): StatusCause[] {
  const { value, preemptionPolicy } = object;
  return [
    ...(value === old.value ? [] : [forbiddenCause('value', 'may not be changed in an update.')]),
    ...(preemptionPolicy === old.preemptionPolicy
      ? []
      : [invalidCause('preemptionPolicy', preemptionPolicy, 'field is immutable')]),
  ];
}

export const priorityClassResource: ResourceDefinition<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  categories: [],
  namespaced: false,
  typeName: 'scheduling.v1.PriorityClass',
  rules: {
    'scheduling.v1.PriorityClass': { defaults: { value: 0, preemptionPolicy: 'PreemptLowerPriority' } },
  },
  strategy: {
    validate: validateClass,
    validateUpdate,
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Value',
      type: 'integer',
      description: 'The priority of its pods.',
      cell: ({ value }) => value,
    },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Whether pods without a class get this one.',
      cell: ({ globalDefault }) => globalDefault ?? false,
    },
    ageColumn,
    {
      name: 'PreemptionPolicy',
      type: 'string',
      description: 'Whether its pods may preempt others.',
      cell: ({ preemptionPolicy }) => preemptionPolicy,
    },
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
