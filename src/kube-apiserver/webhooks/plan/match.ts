/** Evaluation of match conditions (upstream: webhook/matchconditions). */
import { compileCondition } from '../../../api/admissionregistration/v1/match-conditions.ts';
import type { MatchCondition } from '../../../api/admissionregistration/v1/types.gen.ts';
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import type { Compiled } from '../../../cel/compile.ts';
import { CelError } from '../../../cel/error.ts';
import { Budget, matchConditionsLimit } from '../../../cel/evaluation/run.ts';
import { type Answers, authorizerVariables } from './authorizer-answers.ts';
import type { HookedRequest } from './request.ts';
import type { Invocation } from './rules.ts';

/** `failed` has the reasons why a condition has no result. */
export type Match = { readonly matches: boolean } | { readonly failed: string };

const compiled = new WeakMap<MatchCondition, Compiled>();

function compiledOf(condition: MatchCondition): Compiled {
  const known = compiled.get(condition) ?? compileCondition(condition);
  compiled.set(condition, known);
  return known;
}

/**
 * Evaluates the conditions with the review that the webhook would get. Throws Unanswered if an expression
 * asks the authorizer for an answer that is not in `answers`.
 */
export function evaluateConditions(
  { hook }: Invocation,
  request: HookedRequest,
  review: JsonObject,
  answers: Answers,
): Match {
  const { matchConditions = [] } = hook.webhook;
  const variables = variablesOf(request, review, answers);
  const budget = new Budget(matchConditionsLimit);
  const failures: string[] = [];
  for (const condition of matchConditions) {
    const result = resultOf(condition, variables, budget);
    if (result === false) return { matches: false };
    if (typeof result === 'string') failures.push(result);
  }
  if (failures.length === 0) return { matches: true };
  return { failed: failures.length === 1 ? (failures[0] ?? '') : `[${failures.join(', ')}]` };
}

/** Returns the result of a condition, or the reason why it has none. */
function resultOf(
  condition: MatchCondition,
  variables: Readonly<Record<string, unknown>>,
  budget: Budget,
): boolean | string {
  try {
    return compiledOf(condition).evaluate(variables, budget) === true;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return `expression '${condition.expression}' resulted in error: ${error.message}`;
  }
}

function variablesOf(
  hooked: HookedRequest,
  { request }: JsonObject,
  answers: Answers,
): Readonly<Record<string, unknown>> {
  const { object, oldObject, uid: _, ...rest } = isRecord(request) ? request : {};
  return { object, oldObject, namespaceObject: null, request: rest, ...authorizerVariables(hooked, answers) };
}
