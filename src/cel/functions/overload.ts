/** Functions of CEL: their overloads, and what a call of each costs. */
import type { Run } from '../evaluation/run.ts';
import { type Signature, signature } from '../types/signature.ts';
import type { Result, Value } from '../values/value.ts';

/**
 * A function for one list of argument types; a receiver is the first argument. The cost is 1 unless `cost`
 * says otherwise.
 */
export interface Overload extends Signature {
  readonly apply: (args: readonly Value[], run: Run) => Result;
  readonly cost: Cost;
  /**
   * True if the function is Kubernetes' own: its cost then does not depend on the overload that is called.
   */
  readonly isLibrary: boolean;
}

/** Rule for the cost of a call: its actual cost, and an estimate. */
export interface Cost {
  readonly actual: (args: readonly Value[], result: Result) => number;
  readonly estimate: Estimate;
}

/** Least and greatest number. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Facts about an argument from which a call's cost is estimated. */
export interface Argument {
  readonly size: Range;
  readonly isList: boolean;
  /** Size of the elements of a list. */
  readonly elementSize: Range;
  /** True if these elements are strings or bytes. */
  readonly hasText: boolean;
  /** True for values of a function library, such as an IP address. */
  readonly isOpaque: boolean;
  /** Value of a literal. */
  readonly literal: unknown;
}

export interface CallEstimate {
  readonly cost: Range;
  /** Size of the result, where it follows from the arguments. */
  readonly size?: Range;
}

export type Estimate = (args: readonly Argument[]) => CallEstimate;

/** A function as its library declares it: signature, implementation, and cost if that is not 1. */
export type Declaration = readonly [
  signature: string,
  apply: (args: readonly Value[], run: Run) => Result,
  cost?: Cost | undefined,
];

const unitCost: Cost = { actual: () => 1, estimate: () => ({ cost: { min: 1, max: 1 } }) };

export function declare(declarations: readonly Declaration[], isLibrary = false): Overload[] {
  return declarations.map(([text, apply, cost = unitCost]) => ({
    ...signature(text),
    apply,
    cost,
    isLibrary,
  }));
}
