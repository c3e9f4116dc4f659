/** The variable `variables` of the expressions of a policy. Pure. */
import type { CompiledVariable } from '../../api/admissionregistration/v1/expressions/compile-variables.ts';
import type { Compiled } from '../../cel/compile.ts';
import { CelError } from '../../cel/error.ts';
import type { Budget } from '../../cel/evaluation/run.ts';
import type { Variables } from '../admission-requests/plan/evaluate-expression.ts';

/**
 * Returns an object whose fields are the policy's variables; each is evaluated at most once, when it is read.
 * `names` contains the other names that the expressions of the variables use, such as `object`.
 */
export function lazyVariables(of: readonly CompiledVariable[], names: Variables, budget: Budget): object {
  const variables: Record<string, unknown> = {};
  const all = { ...names, variables };
  for (const { name, value } of of) {
    let known: { readonly value: unknown } | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get() {
        known ??= { value: evaluateVariable(name, value, all, budget) };
        return known.value;
      },
    });
  }
  return variables;
}

function evaluateVariable(name: string, value: Compiled, names: Variables, budget: Budget): unknown {
  try {
    return value.evaluate(names, budget);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
  }
}
