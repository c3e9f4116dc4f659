/**
 * Evaluates JSONPath templates as kubectl does: a missing field yields nothing, several results are separated
 * by a space, objects and lists are written as JSON.
 */
import { isRecord, sortKeys } from '../equality.ts';
import { goJson } from '../go-json.ts';
import type { Node, Operand, Operator, Step } from './parse.ts';

/**
 * Returns the text of a template. Throws for an index outside its list, and for a missing field if
 * `missingKeyIsError`.
 */
export function evaluateTemplate(
  nodes: readonly Node[],
  data: unknown,
  { missingKeyIsError = false }: { readonly missingKeyIsError?: boolean } = {},
): string {
  return new Evaluation(data, Number.POSITIVE_INFINITY, missingKeyIsError).text(nodes, data);
}

/**
 * Returns the values of all paths of a template. Throws when more than `maxValues` values are visited: a path
 * with several `..` visits many times the values of its object.
 */
export function findAll(
  nodes: readonly Node[],
  data: unknown,
  maxValues: number = Number.POSITIVE_INFINITY,
): unknown[] {
  const evaluation = new Evaluation(data, maxValues);
  return nodes.flatMap((node) => (node.kind === 'text' ? [] : evaluation.walk(node.steps, [data])));
}

export const formatResults = (values: readonly unknown[]) => values.map(formatValue).join(' ');

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? goJson(sortKeys(value)) : String(value);
}

class Evaluation {
  readonly #root: unknown;
  readonly #maxValues: number;
  readonly #missingKeyIsError: boolean;
  #visited = 0;

  constructor(root: unknown, maxValues: number = Number.POSITIVE_INFINITY, missingKeyIsError = false) {
    this.#root = root;
    this.#maxValues = maxValues;
    this.#missingKeyIsError = missingKeyIsError;
  }

  text(nodes: readonly Node[], current: unknown): string {
    return nodes
      .map((node) => {
        switch (node.kind) {
          case 'text':
            return node.text;
          case 'path':
            return formatResults(this.walk(node.steps, [current]));
          case 'range': {
            const values = [...this.walk(node.steps, [current]), ...(node.isOpen ? [current] : [])];
            return values.map((value) => this.text(node.body, value)).join('');
          }
        }
        return node satisfies never;
      })
      .join('');
  }

  walk(steps: readonly Step[], from: readonly unknown[]): unknown[] {
    return steps.reduce<unknown[]>(
      (values, step) =>
        // The results of a union are in the order of its members, as in kubectl.
        step.kind === 'union'
          ? step.members.flatMap((member) => this.walk([member], values))
          : values.flatMap((value) => this.#counted(this.#step(step, value))),
      [...from],
    );
  }

  #counted(found: unknown[]): unknown[] {
    this.#visited += found.length;
    if (this.#visited > this.#maxValues)
      throw new Error(`jsonpath: more than ${this.#maxValues} values are visited`);
    return found;
  }

  #field(value: unknown, { name, path }: Extract<Step, { kind: 'field' }>): unknown[] {
    const below = path?.reduce(fieldOf, [value]) ?? [];
    // kubectl has the path alone: the name as a whole is what beginners mean by ['tls.crt'].
    if (below.length > 0) return below;
    if (isRecord(value) && Object.hasOwn(value, name)) return [value[name]];
    if (this.#missingKeyIsError) throw new Error(`jsonpath: ${name} is not found`);
    return [];
  }

  #step(step: Exclude<Step, { kind: 'union' }>, value: unknown): unknown[] {
    switch (step.kind) {
      case 'root':
        return [this.#root];
      case 'field':
        return this.#field(value, step);
      case 'all':
        return childrenOf(value);
      case 'descend':
        return descend(value);
      case 'index':
        return elementAt(value, step.index);
      case 'slice':
        return slice(value, step);
      case 'filter':
        return (Array.isArray(value) ? value : childrenOf(value)).filter((item) => this.#holds(step, item));
    }
  }

  #holds({ left, test }: Extract<Step, { kind: 'filter' }>, item: unknown): boolean {
    const found = this.#operand(left, item);
    if (!test) return found.length > 0;
    const against = this.#operand(test.right, item);
    return found.length > 0 && against.length > 0 && compare(found[0], test.operator, against[0]);
  }

  #operand(operand: Operand, item: unknown): unknown[] {
    return operand.kind === 'value' ? [operand.value] : this.walk(operand.steps, [item]);
  }
}

/** Returns the values of one field of the values. */
const fieldOf = (values: unknown[], name: string): unknown[] =>
  values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const childrenOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];

const descend = (value: unknown): unknown[] => [value, ...childrenOf(value).flatMap(descend)];

function elementAt(value: unknown, index: number): unknown[] {
  if (!isList(value)) return [];
  const at = fromEnd(index, value.length);
  if (at < 0 || at >= value.length) throw outOfBounds(index, value.length);
  return [value[at]];
}

/**
 * Returns a slice of a list. Throws if the range is outside the list, unless it is empty, and for an invalid
 * step.
 */
function slice(value: unknown, { start, end, step }: Extract<Step, { kind: 'slice' }>): unknown[] {
  if (!isList(value)) return [];
  const { length } = value;
  const from = fromEnd(start ?? 0, length);
  const to = fromEnd(end ?? length, length);
  if (from === to) return [];
  if (from < 0 || from >= length) throw outOfBounds(from, length);
  if (to < 0 || to > length) throw outOfBounds(to - 1, length);
  if (from > to) throw new Error(`jsonpath: starting index ${from} is greater than ending index ${to}`);
  if (step <= 0) throw new Error('jsonpath: step must be > 0');
  return value.slice(from, to).filter((_, index) => index % step === 0);
}

/** Returns false for no value. Throws for a value that is no list, as kubectl does. */
function isList(value: unknown): value is unknown[] {
  if (Array.isArray(value)) return true;
  if (value === null || value === undefined) return false;
  throw new Error(
    `jsonpath: an index needs a list, got ${isRecord(value) ? 'an object' : JSON.stringify(value)}`,
  );
}

const fromEnd = (index: number, length: number) => (index < 0 ? length + index : index);

const outOfBounds = (index: number, length: number) =>
  new Error(`jsonpath: array index out of bounds: index ${index}, length ${length}`);

function compare(left: unknown, operator: Operator, right: unknown): boolean {
  const order = orderOf(left, right);
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** Returns NaN, which is neither less nor greater, for values without an order. */
function orderOf(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN;
  return left < right ? -1 : left > right ? 1 : 0;
}
