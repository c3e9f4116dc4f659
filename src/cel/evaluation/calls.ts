/** Calls of functions, and the operators that do not evaluate all of their operands. */
import { CelError } from '../error.ts';
import { compilePattern } from '../functions/regex.ts';
import type { CallNode, Expression } from '../syntax/tree.ts';
import type { Type } from '../types/type.ts';
import { contains } from '../values/equal.ts';
import { Fault, List, noSuchOverload, Optional, type Result, type Value } from '../values/value.ts';
import { dispatch } from './dispatch.ts';
import { planIndex, planOptionalSelect } from './fields.ts';
import type { Plans, Step } from './step.ts';

/** Plans a call. `constantList` is true if the second argument of `in` is a constant list. */
export function planCall(plans: Plans, node: CallNode, charged: boolean, constantList: boolean): Step {
  if (node.name === '_[_]' || node.name === '_[?_]') return planIndex(plans, node, charged);
  if (node.name === '_?._') return planOptionalSelect(plans, node, charged);
  if (node.name === '_?_:_') return planConditional(plans, node);
  const operands = node.target === undefined ? node.args : [node.target, ...node.args];
  checkPattern(node);
  const steps = operands.map((operand) => plans.plan(operand));
  return special(node, steps, constantList) ?? strict(node, operands, steps);
}

/** Throws a CelError for an invalid pattern of find or findAll that is a literal. */
function checkPattern({ name, args: [pattern] }: CallNode): void {
  if ((name !== 'find' && name !== 'findAll') || pattern?.kind !== 'const') return;
  const compiled = typeof pattern.value === 'string' ? compilePattern(pattern.value) : undefined;
  if (compiled instanceof Fault) throw new CelError(`program instantiation failed: ${compiled.message}`);
}

const never: Step = () => noSuchOverload;

function special(node: CallNode, steps: readonly Step[], constantList: boolean): Step | undefined {
  const [first = never, second = never] = steps;
  switch (node.name) {
    case '_&&_':
      return logical(first, second, false);
    case '_||_':
      return logical(first, second, true);
    case '@not_strictly_false':
      return notStrictlyFalse(first);
    case '@in':
      return constantList ? inConstants(first, second) : undefined;
    case 'or':
    case 'orValue':
      return alternative(node.name, first, second);
    default:
      return undefined;
  }
}

/** Plans a logical operator. A fault of one operand does not matter if the other one is `decisive`. */
function logical(first: Step, second: Step, decisive: boolean): Step {
  return (frame) => {
    const left = first(frame);
    if (left === decisive) return left;
    const right = second(frame);
    if (right === decisive) return right;
    return left === right && right === !decisive ? right : undecided(left, right);
  };
}

function undecided(left: Result, right: Result): Fault {
  if (left instanceof Fault) return left;
  return right instanceof Fault ? right : noSuchOverload;
}

function planConditional(plans: Plans, node: CallNode): Step {
  const [condition, then, otherwise] = node.args;
  if (!condition || !then || !otherwise) throw new Error('a conditional has three operands');
  const [test, yes, no] = [plans.plan(condition), plans.plan(then, false), plans.plan(otherwise, false)];
  return (frame) => {
    const found = test(frame);
    if (typeof found === 'boolean') return found ? yes(frame) : no(frame);
    return found instanceof Fault ? found : noSuchOverload;
  };
}

function notStrictlyFalse(operand: Step): Step {
  return (frame) => {
    const value = operand(frame);
    frame.run.spend(1);
    return value !== false;
  };
}

/** Plans `in` with a list of literals, which costs nothing, because upstream makes a set of them. */
function inConstants(value: Step, list: Step): Step {
  return (frame) => {
    const found = value(frame);
    const among = list(frame);
    if (found instanceof Fault) return found;
    return among instanceof List ? contains(among, found, frame.run) : noSuchOverload;
  };
}

function alternative(name: 'or' | 'orValue', first: Step, second: Step): Step {
  return (frame) => {
    const optional = first(frame);
    if (optional instanceof Fault) return optional;
    if (!(optional instanceof Optional)) return noSuchOverload;
    if (optional.value === undefined) return second(frame);
    return name === 'or' ? optional : optional.value;
  };
}

/** Plans a function that needs all of its arguments. */
function strict(node: CallNode, operands: readonly Expression[], steps: readonly Step[]): Step {
  const overloads = node.overloads ?? [];
  const [only] = overloads;
  if (only === undefined) return never;
  const isOne = overloads.length === 1;
  const isKnown = isOne && operands.every(({ type }, at) => fits(type, only.parameters[at]));
  const call = isKnown ? only.apply : undefined;
  const isMetered = isOne || only.isLibrary;
  return (frame) => {
    const { run } = frame;
    const args: Value[] = [];
    let fault: Fault | undefined;
    for (const step of steps) {
      const value = step(frame);
      if (value instanceof Fault) fault ??= value;
      else args.push(value);
    }
    const result = fault ?? (call ? call(args, run) : dispatch(overloads, args, run));
    run.spend(isMetered && fault === undefined ? only.cost.actual(args, result) : 1);
    return result;
  };
}

/** Returns whether a value of the type surely is one of the parameter's. */
function fits(type: Type | undefined, parameter: Type | undefined): boolean {
  if (type === undefined || parameter === undefined) return false;
  if (parameter.kind === 'parameter') return true;
  if (type.kind !== 'scalar' || parameter.kind !== 'scalar') return type.kind === parameter.kind;
  return type.name === parameter.name;
}
