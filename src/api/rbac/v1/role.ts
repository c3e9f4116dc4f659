/** Role: permissions in its namespace. It grants nothing by itself; bindings do. */
import { checkPathSegment } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { createdAtColumn, nameColumn } from '../../columns.ts';
import { policyRules, rbacGroup, validateRules } from './roles.ts';
import type { Role } from './types.gen.ts';

export const roleResource: ResourceDefinition<Role> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'rbac.v1.Role',
  rules: { 'rbac.v1.Role': {}, ...policyRules },
  strategy: {
    checkName: checkPathSegment,
    validate: ({ rules }) => validateRules(rules, true),
    countsGenerations: false,
    createsOnUpdate: true,
  },
  hasStatus: false,
  columns: [nameColumn, createdAtColumn],
  selectableFields: {},
  deleteAnswers: 'status',
};
