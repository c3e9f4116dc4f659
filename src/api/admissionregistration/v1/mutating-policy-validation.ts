/** Rules of MutatingAdmissionPolicies (upstream: ValidateMutatingAdmissionPolicy). */
import { invalidCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { dyn } from '../../../cel/types/type.ts';
import { compileMutatingPolicy } from './expressions/compile-mutating-policy.ts';
import { expressionEnvironment } from './expressions/environment.ts';
import { lengthCauses } from './expressions/length.ts';
import { validateMatchConditions } from './match-conditions.ts';
import { validateConstraints, validateParamKind, validateVariable } from './policy-parts.ts';
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
} from './types.gen.ts';

/** Only requests with an object can be changed. */
const operations = ['*', 'CREATE', 'UPDATE'];

export function validateMutatingPolicy(policy: MutatingAdmissionPolicy): StatusCause[] {
  const { spec } = policy;
  const tooLong = lengthCauses(expressionsOf(spec), 'spec');
  if (tooLong.length > 0) return tooLong;
  const causes = [
    ...(spec.paramKind ? validateParamKind(spec.paramKind, 'spec.paramKind') : []),
    ...validateConstraints(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateOperations(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateMatchConditions(
      spec.matchConditions ?? [],
      'spec.matchConditions',
      expressionEnvironment({ params: spec.paramKind && dyn }),
    ),
    ...(spec.variables ?? []).flatMap((one, index) => validateVariable(one, `spec.variables[${index}]`)),
    ...validateMutations(spec.mutations ?? [], 'spec.mutations'),
    ...(spec.reinvocationPolicy ? [] : [requiredCause('spec.reinvocationPolicy')]),
  ];
  if (causes.length > 0) return causes;
  return compileMutatingPolicy(policy).faults.map(({ path, expression, message }) =>
    invalidCause(path, expression, message),
  );
}

const expressionsOf = (spec: MutatingAdmissionPolicySpec): readonly (string | undefined)[] => [
  ...(spec.matchConditions ?? []).map(({ expression }) => expression),
  ...(spec.variables ?? []).map(({ expression }) => expression),
  ...(spec.mutations ?? []).flatMap(({ applyConfiguration, jsonPatch }) => [
    applyConfiguration?.expression,
    jsonPatch?.expression,
  ]),
];

/** Validates the operations of the rules of a policy, or of its binding. */
export const validateOperations = (resources: MatchResources | undefined, path: string): StatusCause[] =>
  (resources?.resourceRules ?? []).flatMap((rule) =>
    (rule.operations ?? [])
      .filter((operation) => !operations.includes(operation))
      .map((operation) =>
        notSupportedCause(`${path}.resourceRules.operations`, operation, operations.toSorted()),
      ),
  );

function validateMutations(mutations: readonly Mutation[], path: string): StatusCause[] {
  if (mutations.length === 0) return [requiredCause(path, 'mutations must contain at least one item')];
  return mutations.flatMap((mutation, index) => validateMutation(mutation, `${path}[${index}]`));
}

const fields = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;

function validateMutation(mutation: Mutation, path: string): StatusCause[] {
  const { patchType } = mutation;
  if (!patchType) return [requiredCause(`${path}.patchType`)];
  const own = fields[patchType];
  // The decoder refuses other types.
  if (own === undefined) return [];
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  const expression = mutation[own]?.expression ?? '';
  const causes: StatusCause[] = [];
  if (!mutation[own])
    causes.push(requiredCause(`${path}.${own}`, `must be specified when patchType is ${patchType}`));
  else if (expression.trim() === '') causes.push(requiredCause(`${path}.${own}.expression`));
  if (mutation[other]) {
    const why = `must not be specified when patchType is ${patchType}`;
    causes.push(invalidCause(`${path}.${other}`, `{${other}}`, why));
  }
  return causes;
}
