/** Checks the expressions of a policy against the types of the kinds that it matches. Pure. */
import { compilePolicy } from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import type { ExpressionFault } from '../../api/admissionregistration/v1/expressions/expressions.ts';
import { expressionTypeOf } from '../../api/admissionregistration/v1/expressions/object-types.ts';
import type {
  ExpressionWarning,
  Rule,
  ValidatingAdmissionPolicy,
} from '../../api/admissionregistration/v1/types.gen.ts';
import { kubernetesFields } from '../../api/field-table.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';

/** Maximum number of kinds that one rule is checked against (upstream: maxTypesToCheck). */
const maxKinds = 10;

/** Returns the warnings for validations and their messages, in the order of their fields. */
export function typeWarnings(
  policy: ValidatingAdmissionPolicy,
  kinds: readonly ResourceDefinition[],
): ExpressionWarning[] {
  const { paramKind } = policy.spec;
  const parameters =
    paramKind &&
    kinds.find((one) => one.kind === paramKind.kind && apiVersionOf(one) === paramKind.apiVersion);
  const found = kindsToCheck(policy, kinds).flatMap((kind) => {
    const types = {
      object: typeOf(kind),
      ...(parameters && { params: typeOf(parameters) }),
    };
    const { faults } = compilePolicy(policy, types);
    return faults.filter(isOfValidation).map((fault) => ({ kind, fault }));
  });
  const byPath = Map.groupBy(found, ({ fault }) => fault.path);
  return [...byPath]
    .sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([fieldRef, all]) => ({
      fieldRef,
      warning: all.map(({ kind, fault }) => `${nameOf(kind)}: ${fault.message}\n`).join('\n'),
    }));
}

const typeOf = (kind: ResourceDefinition) => expressionTypeOf(objectTypeOf(kind, kubernetesFields));

const nameOf = (kind: ResourceDefinition) => `${apiVersionOf(kind)}, Kind=${kind.kind}`;

const isOfValidation = ({ path }: ExpressionFault) => path.startsWith('spec.validations[');

/** Returns the kinds that the rules name without wildcards, sorted. */
function kindsToCheck(
  { spec }: ValidatingAdmissionPolicy,
  kinds: readonly ResourceDefinition[],
): readonly ResourceDefinition[] {
  const rules = spec.matchConstraints?.resourceRules ?? [];
  const named = rules.flatMap((rule) => kinds.filter((kind) => names(rule, kind)).slice(0, maxKinds));
  return [...new Set(named)].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function names(
  { apiGroups = [], apiVersions = [], resources = [] }: Partial<Rule>,
  { group, version, plural }: ResourceDefinition,
): boolean {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return false;
  return apiGroups.includes(group) && apiVersions.includes(version) && resources.includes(plural);
}
