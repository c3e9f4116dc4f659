/** Common parts of RoleBinding and ClusterRoleBinding: a role, and its subjects. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import type { Column, Strategy } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { RulesByType } from '../../../apimachinery/type-rules.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { rbacGroup } from './roles.ts';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from './types.gen.ts';

type Binding = RoleBinding | ClusterRoleBinding;

/** Rules of the types. Validation reports missing fields: a role without a kind has an unsupported kind. */
export const bindingRules: RulesByType = {
  'rbac.v1.RoleRef': { defaults: { apiGroup: rbacGroup, kind: '', name: '' } },
  'rbac.v1.Subject': { defaults: { kind: '', name: '' } },
};

/**
 * Returns the strategy for roles of the given kinds; subjects without a namespace are only allowed in a
 * RoleBinding.
 */
export function bindingStrategy<T extends Binding>(roleKinds: readonly string[]): Strategy<T> {
  return {
    setDefaults: ({ subjects }) => subjects?.forEach(setSubjectDefaults),
    checkName: checkPathSegment,
    validate: ({ kind, roleRef, subjects = [] }) => [
      ...validateRole(roleRef, roleKinds),
      ...subjects.flatMap((subject, index) =>
        validateSubject(subject, kind === 'RoleBinding', `subjects[${index}]`),
      ),
    ],
    validateUpdate: ({ roleRef }, old) =>
      deepEqual(roleRef, old.roleRef) ? [] : [invalidCause('roleRef', roleRef, 'cannot change roleRef')],
    countsGenerations: false,
    createsOnUpdate: true,
  };
}

function setSubjectDefaults(subject: Subject): void {
  if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= rbacGroup;
}

function validateRole({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): StatusCause[] {
  return [
    ...oneOf('roleRef.apiGroup', apiGroup, [rbacGroup]),
    ...oneOf('roleRef.kind', kind, kinds),
    ...(name === '' ? [requiredCause('roleRef.name')] : nameCauses('roleRef.name', name, checkPathSegment)),
  ];
}

const oneOf = (path: string, value: string, supported: readonly string[]) =>
  supported.includes(value) ? [] : [notSupportedCause(path, value, supported)];

/** Validates a subject (upstream: ValidateRoleBindingSubject). */
function validateSubject(subject: Subject, inNamespace: boolean, path: string): StatusCause[] {
  const { kind, name, apiGroup = '', namespace = '' } = subject;
  const causes = name === '' ? [requiredCause(`${path}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') causes.push(...nameCauses(`${path}.name`, name, checkDns1123Subdomain));
      causes.push(...oneOf(`${path}.apiGroup`, apiGroup, ['']));
      if (!inNamespace && namespace === '') causes.push(requiredCause(`${path}.namespace`));
      return causes;
    case 'User':
    case 'Group':
      return [...causes, ...oneOf(`${path}.apiGroup`, apiGroup, [rbacGroup])];
    default:
      return [...causes, notSupportedCause(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
}

const namesOf = (kind: string, { subjects = [] }: Binding) =>
  subjects
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');

export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn,
  {
    name: 'Role',
    type: 'string',
    description: 'The role that the subjects have, and its kind.',
    cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
  },
  ageColumn,
  {
    name: 'Users',
    type: 'string',
    priority: 1,
    description: 'The users that have the role.',
    cell: (binding) => namesOf('User', binding),
  },
  {
    name: 'Groups',
    type: 'string',
    priority: 1,
    description: 'The groups whose members have the role.',
    cell: (binding) => namesOf('Group', binding),
  },
  {
    name: 'ServiceAccounts',
    type: 'string',
    priority: 1,
    description: 'The ServiceAccounts that have the role, with their namespaces.',
    cell: (binding) => namesOf('ServiceAccount', binding),
  },
];
