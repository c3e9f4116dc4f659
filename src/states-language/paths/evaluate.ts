/**
 * Evaluates a JSONPath. The work is counted, so that a path of `..` after `..` cannot block the event loop.
 */
import { deepEqual } from '../../apimachinery/equality.ts';
import { childrenOf, fieldOf, isJsonObject, isList, type Json } from '../json.ts';
import { maxPathWork } from '../limits.ts';
import { orderOf } from '../order.ts';
import { type Work, workProblem } from '../work.ts';
import {
  isDefinite,
  type JsonPath,
  type Operand,
  type Operator,
  type PathFunction,
  type Root,
  type Selector,
  type Step,
  type Test,
} from './json-path.ts';

/** Values of the roots of paths. */
export interface Roots {
  readonly input: Json;
  readonly context?: Json;
  readonly variable?: (name: string) => Json | undefined;
  /** Remaining work of the state, which the path shares. */
  readonly work?: Work;
}

/** The path requires too much work. */
export class PathProblem extends Error {}

interface Search {
  readonly roots: Roots;
  left: number;
}

/** Returns the value, or undefined if a path with at most one value finds none. Throws PathProblem. */
export function evaluatePath(path: JsonPath, roots: Roots): Json | undefined {
  const most = Math.min(maxPathWork, roots.work?.left ?? maxPathWork);
  if (most <= 0) throw new PathProblem(`cannot be looked up: ${workProblem}`);
  const search = { roots, left: most };
  try {
    return resultOf(path, undefined, search);
  } catch (error) {
    if (error instanceof PathProblem && most < maxPathWork)
      throw new PathProblem(`cannot be looked up: ${workProblem}`);
    throw error;
  } finally {
    roots.work?.take(most - search.left);
  }
}

function resultOf(path: JsonPath, item: Json | undefined, search: Search): Json | undefined {
  const root = rootOf(path.root, item, search.roots);
  if (root === undefined) return undefined;
  let found: readonly Json[] = [root];
  for (const step of path.steps) found = take(step, found, search);
  const value = isDefinite(path) ? found[0] : found;
  return path.call === undefined || value === undefined ? value : call(path.call, value);
}

function rootOf(root: Root, item: Json | undefined, roots: Roots): Json | undefined {
  if (root === 'input') return roots.input;
  if (root === 'context') return roots.context;
  return root === 'item' ? item : roots.variable?.(root.variable);
}

function take({ selectors, deep }: Step, values: readonly Json[], search: Search): readonly Json[] {
  const found: Json[] = [];
  const visit = (value: Json): void => {
    for (const selector of selectors) select(selector, value, found, search);
    if (deep) for (const child of childrenOf(value)) visit(child);
  };
  for (const value of values) visit(value);
  return found;
}

function work(search: Search): void {
  search.left--;
  if (search.left < 0) throw new PathProblem(`looks at more than ${maxPathWork} values`);
}

function select(selector: Selector, value: Json, found: Json[], search: Search): void {
  work(search);
  switch (selector.type) {
    case 'name':
    case 'index':
      push(found, childAt(value, selector));
      return;
    case 'slice':
      countAll(isList(value) ? sliceOf(value, selector) : [], found, search);
      return;
    case 'all':
      countAll(childrenOf(value), found, search);
      return;
    case 'filter': {
      const { test } = selector;
      for (const child of childrenOf(value)) if (passes(test, child, search)) found.push(child);
    }
  }
}

function childAt(value: Json, selector: Extract<Selector, { type: 'name' | 'index' }>): Json | undefined {
  if (selector.type === 'name') return isJsonObject(value) ? fieldOf(value, selector.name) : undefined;
  return isList(value) ? value.at(selector.index) : undefined;
}

function passes(test: Parameters<typeof holds>[0], child: Json, search: Search): boolean {
  work(search);
  return holds(test, child, search);
}

function push(found: Json[], value: Json | undefined): void {
  if (value !== undefined) found.push(value);
}

function countAll(values: Iterable<Json>, found: Json[], search: Search): void {
  for (const value of values) {
    work(search);
    found.push(value);
  }
}

type Slice = Extract<Selector, { type: 'slice' }>;

/** Slices like Python: both ends may count from the end, and a negative step goes backwards. */
function* sliceOf(list: readonly Json[], { from, to, by }: Slice): Iterable<Json> {
  const { length } = list;
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const [first, last] = by > 0 ? [low, high] : [high, low];
  const within = (at: number) => Math.min(Math.max(at < 0 ? at + length : at, low), high);
  const start = from === undefined ? first : within(from);
  const end = to === undefined ? last : within(to);
  for (let at = start; by > 0 ? at < end : at > end; at += by) {
    const item = list[at];
    if (item !== undefined) yield item;
  }
}

function holds(test: Test, item: Json, search: Search): boolean {
  work(search);
  switch (test.type) {
    case 'and':
      return test.tests.every((inner) => holds(inner, item, search));
    case 'or':
      return test.tests.some((inner) => holds(inner, item, search));
    case 'not':
      return !holds(test.test, item, search);
    case 'exists':
      return exists(test.path, item, search);
    case 'compare':
      return compare(
        test.operator,
        operandOf(test.left, item, search),
        operandOf(test.right, item, search),
        search,
      );
  }
}

function exists(path: JsonPath, item: Json, search: Search): boolean {
  const value = resultOf(path, item, search);
  if (isDefinite(path)) return value !== undefined;
  return isList(value) && value.length > 0;
}

const operandOf = (operand: Operand, item: Json, search: Search): Json | undefined =>
  'literal' in operand ? operand.literal : resultOf(operand.path, item, search);

function compare(operator: Operator, a: Json | undefined, b: Json | undefined, search: Search): boolean {
  switch (operator) {
    case '==':
      return equal(a, b, search);
    case '!=':
      return !equal(a, b, search);
    case 'in':
      return isList(b) && b.some((item) => equal(a, item, search));
    case 'nin':
      return isList(b) && !b.some((item) => equal(a, item, search));
    case '<':
      return order(a, b) === -1;
    case '<=':
      return (order(a, b) ?? 1) <= 0;
    case '>':
      return order(a, b) === 1;
    case '>=':
      return (order(a, b) ?? -1) >= 0;
  }
}

/** Compares two values; for large values the cost is that of examining them. */
function equal(a: Json | undefined, b: Json | undefined, search: Search): boolean {
  work(search);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (childrenOf(a).length !== childrenOf(b).length) return false;
  search.left -= sizeOf(a);
  work(search);
  return deepEqual(a, b);
}

function sizeOf(value: Json): number {
  let size = 1;
  for (const child of childrenOf(value)) size += sizeOf(child);
  return size;
}

/** Returns the order of two numbers or two texts; undefined for other values. */
function order(a: Json | undefined, b: Json | undefined): -1 | 0 | 1 | undefined {
  if (typeof a === 'number' && typeof b === 'number') return orderOf(a, b);
  return typeof a === 'string' && typeof b === 'string' ? orderOf(a, b) : undefined;
}

function call(name: PathFunction, value: Json): Json | undefined {
  if (name === 'length') return lengthOf(value);
  if (name === 'keys') return isJsonObject(value) ? Object.keys(value) : undefined;
  if (!isList(value)) return undefined;
  if (name === 'first') return value[0];
  if (name === 'last') return value.at(-1);
  const numbers = value.filter((item) => typeof item === 'number');
  if (numbers.length === 0) return undefined;
  const sum = () => numbers.reduce((total, item) => total + item, 0);
  if (name === 'sum') return sum();
  if (name === 'avg') return sum() / numbers.length;
  return numbers.reduce((best, item) => (name === 'min' ? Math.min(best, item) : Math.max(best, item)));
}

function lengthOf(value: Json): number | undefined {
  if (isList(value) || typeof value === 'string') return value.length;
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}
