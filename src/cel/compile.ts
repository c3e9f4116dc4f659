/**
 * The Common Expression Language as Kubernetes has it: compiling with types and an estimate of the cost, and
 * evaluation with a limit on it. Pure.
 */
import { check } from './checking/check.ts';
import { validate } from './checking/validate.ts';
import { estimate } from './cost/estimate.ts';
import type { Environment } from './environment.ts';
import { CelError, CostError } from './error.ts';
import { Planner } from './evaluation/plan.ts';
import { type Budget, Run } from './evaluation/run.ts';
import type { Range } from './functions/overload.ts';
import { parse } from './syntax/parser.ts';
import type { Type } from './types/type.ts';
import { Fault, type Value } from './values/value.ts';

/** Reported for values that are nested deeper than the stack, or longer than a string may be. */
const tooDeep = 'operation cancelled: value too large';

/** A compiled expression. It keeps nothing between evaluations, so its owner may cache it. */
export interface Compiled {
  readonly resultType: Type;
  /**
   * Least and greatest cost of an evaluation, given the maximum sizes that the types of the variables have.
   */
  readonly estimatedCost: Range;
  /**
   * Returns the value. Variables are JSON or values of CEL; one may be a getter, which is called if it is
   * read. The cost is taken from the budget. Throws a CelError when the expression fails, or costs too much.
   *
   *     compiled.evaluate({ object, oldObject: null }, new Budget(requestLimit))
   */
  evaluate(variables: Readonly<Record<string, unknown>>, budget: Budget): Value;
}

/** Compiles an expression. Throws a CelError with all faults, in upstream's words. */
export function compile(expression: string, environment: Environment): Compiled {
  const tree = parse(expression);
  const resultType = check(expression, tree, environment);
  validate(expression, tree);
  const planner = new Planner(environment);
  const plan = planner.plan(tree);
  return {
    resultType,
    estimatedCost: estimate(tree, environment),
    evaluate(variables, budget) {
      const run = new Run(Math.min(budget.perCall, budget.remaining));
      try {
        const value = plan({ run, variables, slots: new Array(planner.slots) });
        if (value instanceof Fault) throw new CelError(value.message);
        return value;
      } catch (error) {
        throw error instanceof RangeError ? new CostError(tooDeep) : error;
      } finally {
        budget.remaining -= run.cost;
      }
    },
  };
}
