/**
 * The Common Expression Language as Kubernetes has it: compiling with types and an estimate of the cost, and
 * evaluation with a limit on it. Pure.
 */
import { inOneGo, type Steps } from '../apimachinery/steps.ts';
import { check } from './checking/check.ts';
import { validate } from './checking/validate.ts';
import { estimate } from './cost/estimate.ts';
import type { Environment } from './environment.ts';
import { CelError, CostError } from './error.ts';
import { Planner } from './evaluation/plan.ts';
import { paused, Rounds } from './evaluation/rounds.ts';
import { type Budget, Run } from './evaluation/run.ts';
import type { Frame, Step } from './evaluation/step.ts';
import type { Range } from './functions/overload.ts';
import { parse } from './syntax/parser.ts';
import type { Type } from './types/type.ts';
import { Fault, type Result, type Value } from './values/value.ts';

/** Reported for values that are nested deeper than the stack, or longer than a string may be. */
const tooDeep = 'operation cancelled: value too large';

/** Reported for an expression that is evaluated after another one has spent the budget. */
const exhausted =
  'validation failed due to running out of cost budget, no further validation rules will be run';

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
  evaluate(variables: Variables, budget: Budget): Value;
  /**
   * Does the same in steps of some milliseconds; a single call of a function is never divided. The values of
   * the variables must not change meanwhile. A getter may throw `paused`, and is called again then.
   */
  evaluateInSteps(variables: Variables, budget: Budget): Steps<Value>;
}

type Variables = Readonly<Record<string, unknown>>;

/** Compiles an expression. Throws a CelError with all faults, in upstream's words. */
export const compile = (expression: string, environment: Environment): Compiled =>
  inOneGo(compileInSteps(expression, environment));

/** Compiles an expression in steps: the longest one takes some ten milliseconds. */
export function* compileInSteps(expression: string, environment: Environment): Steps<Compiled> {
  const tree = parse(expression);
  yield;
  const resultType = check(expression, tree, environment);
  yield;
  validate(expression, tree);
  yield;
  const planner = new Planner(environment);
  const plan = planner.plan(tree);
  yield;
  const program = new Program(plan, planner.slots);
  return {
    resultType,
    estimatedCost: estimate(tree, environment),
    evaluate: (variables, budget) => program.evaluate(variables, budget),
    evaluateInSteps: (variables, budget) => program.evaluateInSteps(variables, budget),
  };
}

function limitOf({ remaining, perCall }: Budget): number {
  if (remaining < 0) throw new CostError(exhausted);
  return Math.min(perCall, remaining);
}

class Program {
  private readonly plan: Step;
  private readonly slots: number;

  constructor(plan: Step, slots: number) {
    this.plan = plan;
    this.slots = slots;
  }

  evaluate(variables: Variables, budget: Budget): Value {
    const run = new Run(limitOf(budget));
    try {
      return this.value({ run, variables, slots: new Array(this.slots) });
    } finally {
      budget.remaining -= run.cost;
    }
  }

  *evaluateInSteps(variables: Variables, budget: Budget): Steps<Value> {
    const slots = new Array<Result>(this.slots);
    const rounds = new Rounds();
    const limit = limitOf(budget);
    for (;;) {
      const run = new Run(limit);
      try {
        const value = this.value({ run, variables, slots, rounds });
        budget.remaining -= run.cost;
        return value;
      } catch (error) {
        if (error !== paused) {
          budget.remaining -= run.cost;
          throw error;
        }
      }
      yield;
      rounds.again();
    }
  }

  private value(frame: Frame): Value {
    try {
      const value = this.plan(frame);
      if (value instanceof Fault) throw new CelError(value.message);
      return value;
    } catch (error) {
      throw error instanceof RangeError ? new CostError(tooDeep) : error;
    }
  }
}
