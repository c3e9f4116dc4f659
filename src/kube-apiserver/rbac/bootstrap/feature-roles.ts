/** Roles that a feature adds to those of every cluster. Pure. */
import type { RoleRows, RuleRow } from './rows.ts';

export interface FeatureRoles {
  /** Rights of the feature's controllers, by their account in kube-system. */
  readonly controllers: RoleRows;
  /** Roles that are bound when they are needed, by name. */
  readonly clusterRoles?: RoleRows;
  /** Rules of the roles `view` and `edit` for the feature's kinds. */
  readonly view: readonly RuleRow[];
  readonly edit: readonly RuleRow[];
}
