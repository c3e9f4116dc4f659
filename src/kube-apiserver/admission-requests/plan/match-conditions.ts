/** Evaluation of match conditions (upstream: webhook/matchconditions). Pure. */
import type { CompiledCondition } from '../../../api/admissionregistration/v1/expressions/compile-conditions.ts';
import { CelError } from '../../../cel/error.ts';
import type { Budget } from '../../../cel/evaluation/run.ts';
import { evaluateExpression, type Variables } from './evaluate-expression.ts';

/** `failed` has the reasons why a condition has no result. */
export type Match = { readonly matches: boolean } | { readonly failed: string };

/**
 * Returns whether all conditions hold. A condition that does not hold decides, even if one before it failed.
 * Throws Unanswered if an expression asks the authorizer for an answer that is not there yet.
 */
export function matchAll(
  conditions: readonly CompiledCondition[],
  variables: Variables,
  budget: Budget,
): Match {
  const failures: string[] = [];
  for (const { condition, expression } of conditions) {
    const result = evaluateExpression(condition, expression, variables, budget);
    if (result instanceof CelError) failures.push(result.message);
    else if (result !== true) return { matches: false };
  }
  const [first, ...others] = failures;
  if (first === undefined) return { matches: true };
  return { failed: others.length === 0 ? first : `[${failures.join(', ')}]` };
}
