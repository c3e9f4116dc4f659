/**
 * RoleBinding: grants a Role, or a ClusterRole within one namespace, to users, groups and ServiceAccounts.
 */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { bindingColumns, bindingRules, bindingStrategy } from './bindings.ts';
import { rbacGroup } from './roles.ts';
import type { RoleBinding } from './types.gen.ts';

export const roleBindingResource: ResourceDefinition<RoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'rbac.v1.RoleBinding',
  rules: { 'rbac.v1.RoleBinding': { defaults: { roleRef: {} } }, ...bindingRules },
  strategy: bindingStrategy(['Role', 'ClusterRole']),
  hasStatus: false,
  columns: bindingColumns,
  selectableFields: {},
  deleteAnswers: 'status',
};
