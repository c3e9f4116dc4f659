/** The estimate of what an evaluation costs, from maximum sizes of the variables (cel-go checker/cost.go). */
import { type Environment, variableType } from '../environment.ts';
import type { Argument, CallEstimate, Overload, Range } from '../functions/overload.ts';
import type { CallNode, Expression, FoldNode, SelectNode } from '../syntax/tree.ts';
import { dyn, fieldOf as objectField, optionalName, type Type, withoutOptional } from '../types/type.ts';
import { sizeOf } from './costs.ts';
import { anySize, exactly, one, plus, times, unbounded, union, zero } from './ranges.ts';

export function estimate(tree: Expression, environment: Environment): Range {
  return new Estimator(environment).estimate(tree).cost;
}

/** Facts about a node that follow from the nodes below. */
interface Known {
  readonly cost: Range;
  /** Size of the value, if it follows from the node. */
  readonly size?: Range;
  /** Declared type of the value, if the node is a path from a variable: it has the maximum sizes. */
  readonly declared?: Type;
}

class Estimator {
  private readonly environment: Environment;
  private readonly known = new Map<Expression, Known>();
  /** Declared types of the variables of loops, the innermost last. */
  private readonly loops = new Map<string, (Type | undefined)[]>();

  constructor(environment: Environment) {
    this.environment = environment;
  }

  /** Estimates a node once, even if it stands in two places, where it is evaluated twice. */
  estimate(node: Expression): Known {
    const known = this.known.get(node);
    if (known) return known;
    const made = this.make(node);
    this.known.set(node, made);
    return made;
  }

  private make(node: Expression): Known {
    switch (node.kind) {
      case 'const':
        return { cost: zero, size: exactly(sizeOf(node.value)) };
      case 'ident':
        return { cost: one, ...this.variable(node.name) };
      case 'select':
        return this.select(node);
      case 'call':
        return this.call(node);
      case 'list':
        return {
          cost: plus(exactly(10), ...node.elements.map(({ value }) => this.estimate(value).cost)),
          size: exactly(node.elements.length),
        };
      case 'map': {
        const parts = node.entries.flatMap(({ key, value }) => [key, value]);
        return {
          cost: plus(exactly(30), ...parts.map((part) => this.estimate(part).cost)),
          size: exactly(node.entries.length),
        };
      }
      case 'struct':
        return { cost: plus(exactly(40), ...node.fields.map(({ value }) => this.estimate(value).cost)) };
      case 'fold':
        return this.fold(node);
    }
  }

  private variable(name: string): Pick<Known, 'declared'> {
    const loops = this.loops.get(name);
    const declared =
      loops !== undefined && loops.length > 0
        ? loops.at(-1)
        : variableType(this.environment, name.replace(/^\./, ''));
    return declared === undefined ? {} : { declared };
  }

  private select(node: SelectNode): Known {
    if (node.qualified !== undefined) return { cost: one, ...this.variable(node.qualified) };
    const { cost, declared } = this.estimate(node.operand);
    if (node.test) return { cost };
    const type = withoutOptional(node.operand.type ?? dyn);
    const isField = type.kind === 'map' || type.kind === 'object' || type.kind === 'parameter';
    const field = declared === undefined ? undefined : fieldOf(declared, node.field);
    return { cost: isField ? plus(cost, one) : cost, ...(field && { declared: field }) };
  }

  private call(node: CallNode): Known {
    const operands = node.target === undefined ? node.args : [node.target, ...node.args];
    const parts = operands.map((operand) => this.estimate(operand));
    const costs = parts.map(({ cost }) => cost);
    const [first = zero, second = zero, third = zero] = costs;
    if (node.name === '_&&_' || node.name === '_||_')
      return { cost: { min: first.min, max: plus(first, second).max } };
    if (node.name === '_?_:_') {
      const [, then, otherwise] = operands;
      const size = then && otherwise && union(this.size(then), this.size(otherwise));
      return { cost: plus(first, union(second, third)), ...(size && { size }) };
    }
    const called = this.overloads(node, operands);
    const declared = indexed(node, parts[0]?.declared);
    return { ...called, cost: plus(called.cost, ...costs), ...(declared && { declared }) };
  }

  /** Returns the range that covers all overloads that may be called. */
  private overloads(node: CallNode, operands: readonly Expression[]): CallEstimate {
    const args = operands.map((operand) => this.argument(operand));
    const estimates = (node.overloads ?? []).map((overload: Overload) => overload.cost.estimate(args));
    return estimates.reduce(
      (left, right) => ({
        cost: union(left.cost, right.cost),
        ...((left.size ?? right.size) && { size: union(left.size ?? zero, right.size ?? left.size ?? zero) }),
      }),
      estimates[0] ?? { cost: one },
    );
  }

  private argument(node: Expression): Argument {
    const type = node.type ?? dyn;
    const { declared } = this.estimate(node);
    const element = type.kind === 'list' ? type.element : undefined;
    const hasText = element?.kind === 'scalar' && (element.name === 'string' || element.name === 'bytes');
    const own = declared?.kind === 'list' ? declared.element : undefined;
    return {
      size: this.size(node),
      elementSize: (own && maximumOf(own)) ?? anySize,
      hasText,
      isList: type.kind === 'list',
      isOpaque: type.kind === 'opaque' && type.name !== optionalName,
      literal: node.kind === 'const' ? node.value : undefined,
    };
  }

  private size(node: Expression): Range {
    const { size, declared } = this.estimate(node);
    if (size) return size;
    return (declared && maximumOf(declared)) ?? (isScalar(node.type ?? dyn) ? one : anySize);
  }

  private fold(node: FoldNode): Known {
    const range = this.estimate(node.range);
    const init = this.estimate(node.init);
    const inner = loopTypes(node, range.declared);
    for (const [name, type] of inner) this.loops.set(name, [...(this.loops.get(name) ?? []), type]);
    const each = plus(this.estimate(node.step).cost, this.estimate(node.condition).cost);
    for (const [name] of inner) this.loops.get(name)?.pop();
    const result = this.estimate(node.result);
    const size = this.size(node.range);
    return { cost: plus(range.cost, init.cost, result.cost, times(size, each)), size };
  }
}

function fieldOf(declared: Type, field: string): Type | undefined {
  if (declared.kind === 'map') return declared.value;
  return declared.kind === 'object' ? objectField(declared, field)?.type : undefined;
}

function indexed(node: CallNode, declared: Type | undefined): Type | undefined {
  if (node.name !== '_[_]' || declared === undefined) return undefined;
  if (declared.kind === 'list') return declared.element;
  return declared.kind === 'map' ? declared.value : undefined;
}

function loopTypes(node: FoldNode, declared: Type | undefined): [string, Type | undefined][] {
  const [first, second] =
    declared?.kind === 'list'
      ? [undefined, declared.element]
      : declared?.kind === 'map'
        ? [declared.key, declared.value]
        : [undefined, undefined];
  const accumulated: [string, undefined] = [node.accumulator, undefined];
  if (node.variable2 !== undefined) return [accumulated, [node.variable, first], [node.variable2, second]];
  return [accumulated, [node.variable, declared?.kind === 'list' ? second : first]];
}

/** Returns the range of a declared type's sizes; undefined for types without a size. */
function maximumOf(type: Type): Range | undefined {
  if (type.kind === 'list' || type.kind === 'map') return { min: 0, max: type.max ?? unbounded };
  // The size of an object counts as nothing, as upstream: comparing two objects costs one.
  if (type.kind === 'object') return zero;
  if (type.kind !== 'scalar' || type.max === undefined) return undefined;
  return { min: 0, max: type.max };
}

function isScalar(type: Type): boolean {
  if (type.kind !== 'scalar') return false;
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.name);
}
