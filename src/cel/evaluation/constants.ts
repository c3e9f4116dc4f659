/**
 * Parts of an expression that have one value: they are evaluated once, and cost nothing, as upstream has it.
 */
import { CelError } from '../error.ts';
import type { CallNode, Expression } from '../syntax/tree.ts';
import { ValueList, ValueMap } from '../values/collections.ts';
import { Fault, type Value } from '../values/value.ts';
import { dispatch } from './dispatch.ts';
import { Run } from './run.ts';

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

export class Constants {
  private readonly known = new Map<Expression, Value | undefined>();

  /** Returns undefined for nodes that have to be evaluated. Throws a CelError if a conversion fails. */
  of(node: Expression): Value | undefined {
    if (node.kind === 'const') return node.value;
    if (this.known.has(node)) return this.known.get(node);
    const value = this.fold(node);
    this.known.set(node, value);
    return value;
  }

  private fold(node: Expression): Value | undefined {
    if (node.kind === 'list') {
      if (node.elements.some(({ optional }) => optional)) return undefined;
      const elements = this.all(node.elements.map(({ value }) => value));
      return elements && new ValueList(elements);
    }
    if (node.kind === 'map') {
      if (node.entries.some(({ optional }) => optional)) return undefined;
      const keys = this.all(node.entries.map(({ key }) => key));
      const values = this.all(node.entries.map(({ value }) => value));
      return keys && values && orThrow(ValueMap.of(keys.map((key, at) => [key, values[at] ?? null])));
    }
    return node.kind === 'call' ? this.conversion(node) : undefined;
  }

  private all(nodes: readonly Expression[]): Value[] | undefined {
    const values: Value[] = [];
    for (const node of nodes) {
      const value = this.of(node);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return values;
  }

  private conversion(node: CallNode): Value | undefined {
    const [argument] = node.args;
    if (argument === undefined || node.args.length > 1 || node.target || !conversions.has(node.name))
      return undefined;
    const value = this.of(argument);
    return value === undefined
      ? undefined
      : orThrow(dispatch(node.overloads ?? [], [value], new Run(Infinity)));
  }
}

function orThrow(value: Value | Fault): Value {
  if (value instanceof Fault) throw new CelError(`program instantiation failed: ${value.message}`);
  return value;
}
