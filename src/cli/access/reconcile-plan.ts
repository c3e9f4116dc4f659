/**
 * Plans the changes that make a role or a binding grant what a manifest contains (upstream: component-helpers
 * auth/rbac/reconciliation). Pure.
 */
import { deepEqual, isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { coverageOf, type PolicyRule } from '../../apimachinery/policy-rules.ts';
import { inOneGo } from '../../apimachinery/steps.ts';
import { metadataOf, recordAt, recordsAt } from '../objects/objects.ts';
import { roleRefOf, rulesOf, type Subject, subjectsOf } from './read-policy.ts';

export interface Reconciliation {
  readonly operation: 'none' | 'create' | 'update' | 'recreate';
  /** True if the object's annotation forbids changes. */
  readonly protected: boolean;
  readonly object: JsonObject;
  readonly missingRules: readonly PolicyRule[];
  readonly extraRules: readonly PolicyRule[];
  readonly missingSubjects: readonly Subject[];
  readonly extraSubjects: readonly Subject[];
}

export interface ReconcileOptions {
  readonly removeExtraPermissions: boolean;
  readonly removeExtraSubjects: boolean;
}

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const nothing = { missingRules: [], extraRules: [], missingSubjects: [], extraSubjects: [] } as const;

/**
 * Returns the rules of `wanted` that `held` does not cover. Throws if they stand for too many permissions to
 * compare.
 */
function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const { missing, tooMany } = inOneGo(coverageOf(held, wanted));
  if (tooMany) throw new Error('its rules stand for too many permissions to compare: write them with *');
  return missing;
}

const isProtected = (object: JsonObject) => metadataOf(object).annotations[autoUpdate] === 'false';

/**
 * Returns the reconciliation of a role. `existing` is undefined if there is no such role. Throws an Error if
 * the rules stand for too many permissions to compare.
 */
export function planRole(
  wanted: JsonObject,
  existing: JsonObject | undefined,
  { removeExtraPermissions: removes }: Pick<ReconcileOptions, 'removeExtraPermissions'>,
): Reconciliation {
  const [own, rules] = [rulesOf(existing ?? {}), rulesOf(wanted)];
  if (!existing)
    return { ...nothing, operation: 'create', protected: false, object: wanted, missingRules: rules };
  const bothAggregated = isRecord(wanted.aggregationRule) && isRecord(existing.aggregationRule);
  const extraRules = bothAggregated ? [] : uncovered(rules, own);
  const missingRules = uncovered(own, rules);
  const next: JsonObject = { ...existing, metadata: mergedMetadata(wanted, existing) };
  if (removes && missingRules.length + extraRules.length > 0) next.rules = wanted.rules ?? [];
  else if (missingRules.length > 0) next.rules = [...recordsAt(existing, 'rules'), ...missingRules];
  aggregate(next, wanted, existing, removes);
  const operation = deepEqual(next, existing) ? 'none' : 'update';
  return { ...nothing, operation, protected: isProtected(existing), object: next, missingRules, extraRules };
}

/** Merges the aggregation rule into `next`, which is modified. */
function aggregate(next: JsonObject, wanted: JsonObject, existing: JsonObject, removes: boolean): void {
  if (!isRecord(wanted.aggregationRule)) {
    delete next.aggregationRule;
    return;
  }
  const [selectors, own] = [wanted, existing].map((role) =>
    recordsAt(role, 'aggregationRule', 'clusterRoleSelectors'),
  );
  const without = (some: JsonObject[] = [], others: JsonObject[] = []) =>
    some.filter((selector) => !others.some((other) => deepEqual(selector, other)));
  const [missing, extra] = [without(selectors, own), without(own, selectors)];
  if (removes && missing.length + extra.length > 0) next.aggregationRule = wanted.aggregationRule;
  else if (missing.length > 0)
    next.aggregationRule = {
      ...recordAt(existing, 'aggregationRule'),
      clusterRoleSelectors: [...(own ?? []), ...missing],
    };
}

/**
 * Returns the reconciliation of a binding, like planRole. A different role requires a new binding, since the
 * role of a binding is immutable.
 */
export function planBinding(
  wanted: JsonObject,
  existing: JsonObject | undefined,
  { removeExtraSubjects: removes }: Pick<ReconcileOptions, 'removeExtraSubjects'>,
): Reconciliation {
  const [own, subjects] = [subjectsOf(existing ?? {}), subjectsOf(wanted)];
  if (!existing)
    return { ...nothing, operation: 'create', protected: false, object: wanted, missingSubjects: subjects };
  if (!deepEqual(roleRefOf(wanted), roleRefOf(existing)))
    return { ...nothing, operation: 'recreate', protected: isProtected(existing), object: wanted };
  const [missingSubjects, extraSubjects] = [onlyIn(subjects, own), onlyIn(own, subjects)];
  const next: JsonObject = { ...existing, metadata: mergedMetadata(wanted, existing) };
  if (removes && missingSubjects.length + extraSubjects.length > 0) next.subjects = wanted.subjects ?? [];
  else if (missingSubjects.length > 0)
    next.subjects = [...recordsAt(existing, 'subjects'), ...missingSubjects.map(writeSubject)];
  const operation = deepEqual(next, existing) ? 'none' : 'update';
  return {
    ...nothing,
    operation,
    protected: isProtected(existing),
    object: next,
    missingSubjects,
    extraSubjects,
  };
}

const onlyIn = (some: readonly Subject[], others: readonly Subject[]): Subject[] =>
  some.filter(
    (subject, index) =>
      !others.some((other) => deepEqual(subject, other)) &&
      some.findIndex((other) => deepEqual(subject, other)) === index,
  );

const writeSubject = (subject: Subject): JsonObject =>
  Object.fromEntries(Object.entries(subject).filter(([, text]) => text !== ''));

/** Labels and annotations of the existing object take precedence over those of the manifest. */
function mergedMetadata(wanted: JsonObject, existing: JsonObject): JsonObject {
  const merged = { ...recordAt(existing, 'metadata') };
  for (const field of ['annotations', 'labels']) {
    const more = recordAt(wanted, 'metadata', field);
    if (Object.keys(more).length > 0) merged[field] = { ...more, ...recordAt(existing, 'metadata', field) };
  }
  return merged;
}
