/**
 * Checks of literals after the check of types: durations, timestamps, regular expressions, and one type in
 * each list and map (cel-go cel/validator.go).
 */
import { compileError, type Issue } from '../error.ts';
import { Run } from '../evaluation/run.ts';
import { compilePattern } from '../functions/regex.ts';
import type { CallNode, Expression } from '../syntax/tree.ts';
import { dyn, sameType, showType, type Type, withoutOptional } from '../types/type.ts';
import { Fault } from '../values/value.ts';

/** Throws a CelError for all faults. */
export function validate(expression: string, tree: Expression): void {
  const issues: Issue[] = [];
  new Validator(issues).visit(tree, false);
  if (issues.length > 0) throw compileError(expression, issues);
}

class Validator {
  private readonly issues: Issue[];
  private readonly seen = new Set<Expression>();

  constructor(issues: Issue[]) {
    this.issues = issues;
  }

  /**
   * Checks a node. `mixed` is true if lists may have elements of several types, as arguments of `format` do.
   */
  visit(node: Expression, mixed: boolean): void {
    if (this.seen.has(node)) return;
    this.seen.add(node);
    if (node.kind === 'call') this.literal(node);
    if (!mixed) this.aggregate(node);
    const isFormat = node.kind === 'call' && node.name === 'format';
    for (const child of childrenOf(node)) this.visit(child, mixed || isFormat);
  }

  private literal(node: CallNode): void {
    const [argument] = node.args;
    if (argument?.kind !== 'const' || !isFaulty(node, argument.value)) return;
    this.issues.push({ offset: argument.offset, message: `invalid ${node.name} argument` });
  }

  private aggregate(node: Expression): void {
    if (node.kind === 'list') this.same(node.elements);
    if (node.kind !== 'map') return;
    this.same(node.entries.map(({ key }) => ({ value: key, optional: false })));
    this.same(node.entries);
  }

  private same(elements: readonly { readonly value: Expression; readonly optional: boolean }[]): void {
    let first: Type | undefined;
    for (const { value, optional } of elements) {
      const own = value.type ?? dyn;
      const type = optional ? withoutOptional(own) : own;
      first ??= type;
      if (sameType(first, type)) continue;
      const message = `expected type '${showType(first)}' but found '${showType(type)}'`;
      this.issues.push({ offset: value.offset, message });
      return;
    }
  }
}

function isFaulty(node: CallNode, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (node.name === 'matches') return compilePattern(value) instanceof Fault;
  if (node.name !== 'duration' && node.name !== 'timestamp') return false;
  const [overload] = node.overloads ?? [];
  return overload !== undefined && overload.apply([value], new Run(1)) instanceof Fault;
}

function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'const':
    case 'ident':
      return [];
    case 'select':
      return [node.operand];
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args];
    case 'list':
      return node.elements.map(({ value }) => value);
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'fold':
      return [node.range, node.init, node.condition, node.step, node.result];
  }
}
