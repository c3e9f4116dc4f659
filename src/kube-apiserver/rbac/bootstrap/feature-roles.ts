/** Roles that a feature adds to those of every cluster, besides those of its controllers. Pure. */
import type { RoleRows, RuleRow } from '../../../api/rbac/v1/rule-rows.ts';

export interface FeatureRoles {
  /** Roles that are bound when they are needed, by name. */
  readonly clusterRoles?: RoleRows;
  /** Rules of the roles `view` and `edit` for the feature's kinds. */
  readonly view: readonly RuleRow[];
  readonly edit: readonly RuleRow[];
}
