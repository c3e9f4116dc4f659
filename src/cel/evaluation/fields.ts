/** Paths: a.b, has(a.b), a.?b, a[b] and a[?b]. */
import { elementAt, optionalAt } from '../functions/operators.ts';
import type { CallNode, Expression, SelectNode } from '../syntax/tree.ts';
import {
  Fault,
  MapValue,
  noSuchOverload,
  ObjectValue,
  Optional,
  type Result,
  type Value,
} from '../values/value.ts';
import type { Plans, Step } from './step.ts';

const paths: ReadonlySet<string> = new Set(['_[_]', '_[?_]', '_?._', '_?_:_']);

function isPath(node: Expression): boolean {
  return node.kind === 'ident' || node.kind === 'select' || (node.kind === 'call' && paths.has(node.name));
}

/**
 * Returns the start of a path, and the cost of a selection from it. A node that is not a path costs one more.
 */
function startOf(plans: Plans, node: Expression, charged: boolean): { from: Step; cost: number } {
  if (isPath(node)) return { from: plans.plan(node, charged), cost: 1 };
  return { from: plans.plan(node), cost: charged ? 2 : 1 };
}

export function planSelect(plans: Plans, node: SelectNode, charged: boolean): Step {
  const { field } = node;
  if (node.test) {
    const operand = plans.plan(node.operand);
    return (frame) => {
      const value = operand(frame);
      return value instanceof Fault ? value : hasField(value, field);
    };
  }
  const { from, cost } = startOf(plans, node.operand, charged);
  return (frame) => {
    const value = from(frame);
    frame.run.spend(cost);
    return value instanceof Fault ? value : fieldOf(value, field);
  };
}

/** Plans `a.?b`. */
export function planOptionalSelect(plans: Plans, node: CallNode, charged: boolean): Step {
  const [operand, field] = node.args;
  if (operand === undefined || field?.kind !== 'const' || typeof field.value !== 'string')
    throw new Error('an optional selection has an operand and a field');
  const { value: name } = field;
  const { from, cost } = startOf(plans, operand, charged);
  return (frame) => {
    const value = from(frame);
    if (value instanceof Fault) return value;
    const found = optionalField(value, name);
    frame.run.spend(isThere(found) ? cost : cost - 1);
    return found;
  };
}

/** Plans `a[b]` and `a[?b]`. */
export function planIndex(plans: Plans, node: CallNode, charged: boolean): Step {
  const [operand, index] = node.args;
  if (operand === undefined || index === undefined) throw new Error('an index has an operand');
  const { from, cost } = startOf(plans, operand, charged);
  const key = plans.plan(index, false);
  const isOptional = node.name === '_[?_]';
  return (frame) => {
    const container = from(frame);
    if (container instanceof Fault) return container;
    const at = key(frame);
    if (at instanceof Fault) return at;
    const found =
      isOptional || container instanceof Optional ? optionalAt([container, at]) : elementAt(container, at);
    frame.run.spend(isThere(found) ? cost : cost - 1);
    return found;
  };
}

/** Returns false for a selection that finds nothing without a fault; its cost is not counted. */
function isThere(found: Result): boolean {
  return !(found instanceof Optional && found.value === undefined);
}

function fieldOf(from: Value, field: string): Result {
  if (from instanceof MapValue || from instanceof ObjectValue) {
    const found = from.get(field);
    return found === undefined ? new Fault(`no such key: ${field}`) : found;
  }
  return from instanceof Optional ? optionalField(from, field) : new Fault(`no such key: ${field}`);
}

function hasField(from: Value, field: string): Result {
  if (from instanceof MapValue) return from.get(field) !== undefined;
  if (from instanceof ObjectValue)
    return from.declares(field) ? from.get(field) !== undefined : new Fault(`no such field '${field}'`);
  return from instanceof Optional && from.value !== undefined && hasField(from.value, field);
}

/** Returns an optional: nothing where the object, or its field, is missing. */
function optionalField(from: Value, field: string): Result {
  if (from instanceof Optional) return from.value === undefined ? from : optionalField(from.value, field);
  if (from instanceof MapValue || from instanceof ObjectValue) return new Optional(from.get(field));
  return noSuchOverload;
}
