/**
 * JSONPath as data. The dialect is that of Jayway's library, for which the States Language is written: a name
 * after a dot may contain a hyphen, a filter may be without parentheses, a function may end the path. There
 * are no regular expressions and no scripts.
 */

/** Root of a path, such as `$`. */
export type Root = 'input' | 'context' | 'item' | { readonly variable: string };

export interface JsonPath {
  readonly root: Root;
  readonly steps: readonly Step[];
  /** Function at the end, such as `.length()`. */
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

/**
 * Returns true if the path can have only one value, which is then its result; otherwise the result is a list.
 */
export const isDefinite = ({ steps }: JsonPath): boolean =>
  steps.every(({ selectors: [first, ...more], deep }) => {
    if (deep || more.length > 0) return false;
    return first?.type === 'name' || first?.type === 'index';
  });

/** Returns true if the path may state where a result is stored: names, and indexes from the start. */
export const isReference = (path: JsonPath): boolean =>
  path.call === undefined &&
  isDefinite(path) &&
  path.steps.every(({ selectors: [first] }) => first?.type !== 'index' || first.index >= 0);
