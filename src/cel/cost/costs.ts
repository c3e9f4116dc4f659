/** Costs of functions, as upstream counts them. */
import type { Argument, Cost, Range } from '../functions/overload.ts';
import { byteLength, codePointLength } from '../values/text.ts';
import { List, MapValue, Opaque, type Result } from '../values/value.ts';
import { anySize, exactly, one, plus, scaled, times } from './ranges.ts';

/** Cost of reading one character. */
export const perCharacter = 0.1;
/** Cost of a character of a regular expression, for each unit of the text's cost. */
const perPatternCharacter = 0.25;

/** Returns the size for costs: characters, bytes, elements; 1 for everything else. */
export function sizeOf(value: Result | undefined): number {
  if (typeof value === 'string') return codePointLength(value);
  if (value instanceof Uint8Array || value instanceof List) return value.length;
  if (value instanceof MapValue) return value.size;
  return value instanceof Opaque ? (value.size ?? 1) : 1;
}

const missing: Argument = {
  size: anySize,
  elementSize: anySize,
  hasText: false,
  isList: false,
  isOpaque: false,
  literal: undefined,
};

export function argument(args: readonly Argument[], at: number): Argument {
  return args[at] ?? missing;
}

export function sizeAt(args: readonly Argument[], at: number): Range {
  return argument(args, at).size;
}

/** A fixed cost. */
export function fixed(cost: number): Cost {
  return { actual: () => cost, estimate: () => ({ cost: exactly(cost) }) };
}

/** Cost of reading the argument `factor` times. A `sized` result is at most as long as the argument. */
export function traversal(at: number, options: { factor?: number; sized?: boolean } = {}): Cost {
  const each = perCharacter * (options.factor ?? 1);
  return {
    actual: (args) => Math.ceil(sizeOf(args[at]) * each),
    estimate: (args) => {
      const size = sizeAt(args, at);
      return { cost: scaled(size, each), ...(options.sized && { size }) };
    },
  };
}

/** Cost of looking for the second argument at one end of the first. */
export const affix: Cost = {
  actual: (args) => Math.ceil(sizeOf(args[0]) * perCharacter),
  estimate: (args) => ({ cost: scaled(sizeAt(args, 1), perCharacter) }),
};

/** Cost of reading both arguments until one of them ends. */
export const comparison: Cost = {
  actual: ([left, right]) => Math.ceil(smallerSize(left, right) * perCharacter),
  estimate: (args) => {
    const max = Math.min(sizeAt(args, 0).max, sizeAt(args, 1).max);
    return { cost: scaled({ min: max > 0 ? 1 : 0, max }, perCharacter) };
  },
};

/**
 * Returns the smaller size. The longer of two texts is not measured: that may take longer than the cost
 * allows.
 */
function smallerSize(left: Result | undefined, right: Result | undefined): number {
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length >= 2 * right.length) return sizeOf(right);
    if (right.length >= 2 * left.length) return sizeOf(left);
  } else if (typeof left === 'string') return Math.min(left.length, sizeOf(right));
  else if (typeof right === 'string') return Math.min(right.length, sizeOf(left));
  return Math.min(sizeOf(left), sizeOf(right));
}

/** Cost of copying both arguments into one value. */
export const concatenation: Cost = {
  actual: (args) => Math.ceil((sizeOf(args[0]) + sizeOf(args[1])) * perCharacter),
  estimate: (args) => {
    const size = plus(sizeAt(args, 0), sizeAt(args, 1));
    return { cost: scaled(size, perCharacter), size };
  },
};

export const listConcatenation: Cost = {
  actual: () => 1,
  estimate: (args) => ({ cost: one, size: plus(sizeAt(args, 0), sizeAt(args, 1)) }),
};

/** Cost of looking at every element of the second argument. */
export const membership: Cost = {
  actual: (args) => sizeOf(args[1]),
  estimate: (args) => ({ cost: sizeAt(args, 1) }),
};

/** Cost of searching for the second argument in the first one. */
export const search: Cost = {
  actual: (args) => Math.ceil(sizeOf(args[0]) * perCharacter) * Math.ceil(sizeOf(args[1]) * perCharacter),
  estimate: (args) => ({
    cost: times(scaled(sizeAt(args, 0), perCharacter), scaled(sizeAt(args, 1), perCharacter)),
  }),
};

export function patternCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * perCharacter) * Math.ceil(pattern * perPatternCharacter);
}

/** Cost of matching the first argument with the second one, a pattern. */
export function matching(sized: boolean): Cost {
  return {
    actual: (args) => patternCost(sizeOf(args[0]), sizeOf(args[1])),
    estimate: (args) => {
      const text = scaled(plus(sizeAt(args, 0), one), perCharacter);
      const cost = times(text, scaled(sizeAt(args, 1), perPatternCharacter));
      return { cost, ...(sized && { size: { min: 0, max: sizeAt(args, 0).max } }) };
    },
  };
}

/** Cost of reading a list with everything in it. */
export const deepTraversal: Cost = {
  actual: (args) => traversalCost(args[0]),
  estimate: (args) => {
    const { isList, elementSize, hasText, size } = argument(args, 0);
    if (!isList) return { cost: scaled(size, perCharacter) };
    const each = hasText ? plus(one, scaled(elementSize, perCharacter)) : one;
    return { cost: times(size, each) };
  },
};

function traversalCost(value: Result | undefined): number {
  if (typeof value === 'string' || value instanceof Uint8Array)
    return Math.floor(byteLength(value) * perCharacter);
  let cost = 0;
  if (value instanceof List) {
    for (let at = 0; at < value.length; at++) cost += traversalCost(value.at(at));
    return cost;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key));
    return cost;
  }
  return 1;
}
