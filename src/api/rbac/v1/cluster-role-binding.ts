/** ClusterRoleBinding: grants a ClusterRole in the whole cluster to users, groups and ServiceAccounts. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { bindingColumns, bindingStrategy } from './bindings.ts';
import { rbacGroup } from './roles.ts';
import type { ClusterRoleBinding } from './types.gen.ts';

export const clusterRoleBindingResource: ResourceDefinition<ClusterRoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'rbac.v1.ClusterRoleBinding',
  rules: { 'rbac.v1.ClusterRoleBinding': { defaults: { roleRef: {} } } },
  strategy: bindingStrategy(['ClusterRole']),
  hasStatus: false,
  columns: bindingColumns,
  selectableFields: {},
  deleteAnswers: 'status',
};
