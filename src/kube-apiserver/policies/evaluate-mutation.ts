/** Runs the program of a mutating policy on one request (upstream: policy/mutating, dispatcher.go). Pure. */
import type {
  CompiledMutatingPolicy,
  CompiledMutation,
} from '../../api/admissionregistration/v1/expressions/compile-mutating-policy.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ObjectType } from '../../apimachinery/field-types.ts';
import { CelError } from '../../cel/error.ts';
import { Budget, requestLimit } from '../../cel/evaluation/run.ts';
import { evaluateExpression, type Variables } from '../admission-requests/plan/evaluate-expression.ts';
import { type Match, matchAll } from '../admission-requests/plan/match-conditions.ts';
import { withConfiguration } from './apply-configuration.ts';
import { withJsonPatch } from './json-patch.ts';
import { lazyVariables } from './lazy-variables.ts';

/** Returns whether the policy sees the request. `names` has the variables besides `variables`. */
export function matchesPolicy(
  { variables, matchConditions }: CompiledMutatingPolicy,
  names: Variables,
  matchBudget: Budget,
): Match {
  const own = lazyVariables(variables, names, new Budget(requestLimit));
  return matchAll(matchConditions, { ...names, variables: own }, matchBudget);
}

/**
 * Returns the object with the changes of one mutation; `shown` stays as it is. Throws an Error that says what
 * is wrong.
 */
export function mutated(
  { variables }: CompiledMutatingPolicy,
  { patchType, patch, expression }: CompiledMutation,
  names: Variables,
  { shown, type }: { readonly shown: JsonObject; readonly type: ObjectType },
): JsonObject {
  const budget = new Budget(requestLimit);
  const all = { ...names, variables: lazyVariables(variables, names, budget) };
  const made = evaluateExpression(patch, expression, all, budget);
  if (made instanceof CelError) throw made;
  return patchType === 'JSONPatch' ? withJsonPatch(shown, made, type) : withConfiguration(shown, made, type);
}
