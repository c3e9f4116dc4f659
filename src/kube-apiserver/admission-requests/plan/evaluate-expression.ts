/** Evaluation of one expression of a webhook or policy. Pure. */
import type { Compiled } from '../../../cel/compile.ts';
import { CelError, CostError } from '../../../cel/error.ts';
import type { Budget } from '../../../cel/evaluation/run.ts';
import type { Value } from '../../../cel/values/value.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** Returns the value, or an error that quotes the expression in upstream's words. */
export function evaluateExpression(
  compiled: Compiled,
  expression: string,
  variables: Variables,
  budget: Budget,
): Value | CelError {
  try {
    return compiled.evaluate(variables, budget);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    if (error instanceof CostError) return error;
    return new CelError(`expression '${expression}' resulted in error: ${error.message}`);
  }
}
