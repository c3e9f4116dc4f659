/** ClusterRole: permissions in the cluster, or in any namespace in which a RoleBinding refers to it. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkPathSegment } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { createdAtColumn, nameColumn } from '../../columns.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { rbacGroup, validateRules } from './roles.ts';
import type { ClusterRole } from './types.gen.ts';

/** Validates the aggregation rule (upstream: ValidateClusterRole). */
function validateAggregation({ aggregationRule }: ClusterRole): StatusCause[] {
  if (aggregationRule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const { clusterRoleSelectors = [] } = aggregationRule;
  if (clusterRoleSelectors.length === 0) {
    return [requiredCause(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return clusterRoleSelectors.flatMap((selector, index) => {
    const at = `${path}[${index}]`;
    const causes = validateLabelSelector(selector, at);
    return causes.length > 0 ? [...causes, invalidCause(at, 'null', 'invalid label selector.')] : [];
  });
}

export const clusterRoleResource: ResourceDefinition<ClusterRole> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'rbac.v1.ClusterRole',
  rules: { 'rbac.v1.ClusterRole': {}, 'rbac.v1.AggregationRule': {} },
  strategy: {
    checkName: checkPathSegment,
    validate: (role) => [...validateRules(role.rules, false), ...validateAggregation(role)],
    countsGenerations: false,
    createsOnUpdate: true,
  },
  hasStatus: false,
  columns: [nameColumn, createdAtColumn],
  selectableFields: {},
  deleteAnswers: 'status',
};
