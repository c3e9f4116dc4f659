/** Syntax trees of CEL. Macros are expanded: a tree has folds in their places, as in upstream's compiler. */
import type { Overload } from '../functions/overload.ts';
import type { Type } from '../types/type.ts';
import type { Uint } from '../values/value.ts';

export type Literal = null | boolean | bigint | number | string | Uint | Uint8Array;

interface Node {
  /** Offset in the expression, for errors: that of the operator, the parenthesis or the token. */
  readonly offset: number;
  /** Levels below this node, this one included. Limited, because the tree is walked recursively. */
  readonly height: number;
  /** Type, set by the checker. */
  type?: Type;
}

export interface ConstNode extends Node {
  readonly kind: 'const';
  readonly value: Literal;
}

export interface IdentNode extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

export interface SelectNode extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  /** Asks whether the field is there: has(a.b). */
  readonly test: boolean;
  /** Name of the variable or the type that the whole path is, set by the checker. */
  qualified?: string;
}

export interface CallNode extends Node {
  readonly kind: 'call';
  /**
   * Name of the function; the checker replaces it by the qualified name of a function like `math.greatest`.
   */
  name: string;
  /** Receiver; the checker removes it where it is a part of the function's name. */
  target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Overloads that match the types of the arguments, set by the checker. */
  overloads?: readonly Overload[];
}

export interface ListNode extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expression; readonly optional: boolean }[];
}

export interface MapEntry {
  readonly offset: number;
  readonly key: Expression;
  readonly value: Expression;
  readonly optional: boolean;
}

export interface MapNode extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface FieldEntry {
  readonly offset: number;
  readonly field: string;
  readonly value: Expression;
  readonly optional: boolean;
}

export interface StructNode extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly FieldEntry[];
}

/** A loop over a list or a map: `step` gives the accumulator its next value while `condition` holds. */
export interface FoldNode extends Node {
  readonly kind: 'fold';
  readonly range: Expression;
  readonly variable: string;
  /** Second variable: the first is then the index or the key, this one the element or the value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

export type Expression =
  | ConstNode
  | IdentNode
  | SelectNode
  | CallNode
  | ListNode
  | MapNode
  | StructNode
  | FoldNode;
