/** Rules beyond upstream's in upstream's roles for people and programs. */
import { type RoleRows, type RuleRow, read } from '../../../api/rbac/v1/rule-rows.ts';

/** Rules that are added to roles of upstream. */
export const ownRowsOfRoles: RoleRows = {
  // Upstream's paths, and the paths of this server's own pages.
  'system:monitoring': [['get', '/metrics/*']],
};

/** Rules of the role `view` beyond upstream's. */
export const ownRowsOfView: readonly RuleRow[] = [
  [read, 'metrics.k8s.io', 'nodes pods'],
  [read, 'minik8s.io', 'servicetraffics'],
];
