/**
 * Reconciles a role or binding of the system with its initial definition: missing parts are added, additions
 * by users stay (upstream: component-helpers auth/rbac/reconciliation). Pure.
 */
import type { ClusterRole, RoleBinding } from '../../../api/rbac/v1/types.gen.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { coverageOf } from '../../../apimachinery/policy-rules.ts';
import { inOneGo } from '../../../apimachinery/steps.ts';
import { autoUpdate, type PolicyKind, type PolicyObject } from './policy-objects.ts';

export type Plan =
  | { readonly type: 'none' }
  | { readonly type: 'update'; readonly object: KubeObject }
  /** The binding refers to a role other than the wanted one; an update cannot change a binding's roleRef. */
  | { readonly type: 'replace'; readonly uid: string };

const none: Plan = { type: 'none' };

type Wanted = PolicyObject['draft'];

/** Returns the role of a binding; undefined for a role. */
const roleOf = (object: object) => (object as Partial<RoleBinding>).roleRef;

/**
 * Returns the plan for an existing object. An object whose auto-update annotation is `false` is left as it
 * is.
 */
export function planReconciliation(wanted: Wanted, existing: PolicyKind): Plan {
  const { annotations = {}, labels = {}, uid } = existing.metadata;
  if (annotations[autoUpdate] === 'false') return none;
  if (!deepEqual(roleOf(wanted), roleOf(existing))) return { type: 'replace', uid };
  const metadata = {
    ...existing.metadata,
    annotations: { ...wanted.metadata.annotations, ...annotations },
    labels: { ...wanted.metadata.labels, ...labels },
  };
  const object = { ...existing, metadata, ...completed(wanted, existing) };
  return deepEqual(object, existing) ? none : { type: 'update', object };
}

function completed(wanted: Wanted, existing: PolicyKind): object {
  if (roleOf(existing)) return completedBinding(wanted as RoleBinding, existing as RoleBinding);
  return completedRole(wanted as ClusterRole, existing as ClusterRole);
}

function completedBinding({ subjects: wanted = [] }: RoleBinding, { subjects = [] }: RoleBinding): object {
  const missing = wanted.filter((subject) => !subjects.some((one) => deepEqual(one, subject)));
  return missing.length > 0 ? { subjects: [...subjects, ...missing] } : {};
}

function completedRole(wanted: ClusterRole, existing: ClusterRole): object {
  const { rules = [], aggregationRule } = existing;
  const { missing } = inOneGo(coverageOf(rules, wanted.rules ?? []));
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  const wantedSelectors = wanted.aggregationRule?.clusterRoleSelectors ?? [];
  const unselected = wantedSelectors.filter((selector) => !selectors.some((one) => deepEqual(one, selector)));
  return {
    ...(missing.length > 0 && { rules: [...rules, ...missing] }),
    ...(unselected.length > 0 && {
      aggregationRule: { clusterRoleSelectors: [...selectors, ...unselected] },
    }),
    // Removes the aggregation rule if the wanted role has none, so that no rules of other roles are added.
    ...(!wanted.aggregationRule && aggregationRule && { aggregationRule: undefined }),
  };
}
