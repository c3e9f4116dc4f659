/**
 * JSONPath as data. The dialect is that of Jayway's library, which the States Language is written for: a name after a dot may
 * hold a hyphen, a filter stands in parentheses or not, a function may end the path. There are no regular expressions and no scripts.
 */

/** What `$` and its like stand for at the beginning of a path. */
export type Root = 'input' | 'context' | 'item' | { readonly variable: string };

export interface JsonPath {
  readonly root: Root;
  readonly steps: readonly Step[];
  /** `.length()` at the end. */
  readonly call?: PathFunction;
}

export type Step = { readonly selectors: readonly Selector[]; readonly deep: boolean };

export type Selector =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly type: 'all' }
  | { readonly type: 'filter'; readonly test: Test };

export type Test =
  | { readonly type: 'and' | 'or'; readonly tests: readonly Test[] }
  | { readonly type: 'not'; readonly test: Test }
  | { readonly type: 'exists'; readonly path: JsonPath }
  | {
      readonly type: 'compare';
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    };

export const operators = ['==', '!=', '<=', '>=', '<', '>', 'in', 'nin'] as const;
export type Operator = (typeof operators)[number];

export type Literal = null | boolean | number | string | readonly Literal[];
export type Operand = { readonly path: JsonPath } | { readonly literal: Literal };

export const pathFunctions = ['length', 'min', 'max', 'sum', 'avg', 'keys', 'first', 'last'] as const;
export type PathFunction = (typeof pathFunctions)[number];

/** Whether the path can be only one value: then that is its result, otherwise a list of what was found. */
export const isDefinite = ({ steps }: JsonPath): boolean =>
  steps.every(({ selectors: [first, ...more], deep }) => {
    if (deep || more.length > 0) return false;
    return first?.type === 'name' || first?.type === 'index';
  });

/** Whether the path may say where a result goes: names, and indexes from the start. */
export const isReference = (path: JsonPath): boolean =>
  path.call === undefined &&
  isDefinite(path) &&
  path.steps.every(({ selectors: [first] }) => first?.type !== 'index' || first.index >= 0);
