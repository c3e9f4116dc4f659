/** Arithmetic of estimates. Numbers above 2^64 - 1 count as 2^64 - 1. */
import type { Range } from '../functions/overload.ts';

export const unbounded = 2 ** 64;

export function exactly(value: number): Range {
  return { min: value, max: value };
}

export const zero = exactly(0);
export const one = exactly(1);
export const anySize: Range = { min: 0, max: unbounded };

function clamp(value: number): number {
  return Math.min(value, unbounded);
}

export function plus(...ranges: readonly Range[]): Range {
  let [min, max] = [0, 0];
  for (const range of ranges) {
    min += range.min;
    max += range.max;
  }
  return { min: clamp(min), max: clamp(max) };
}

export function times(left: Range, right: Range): Range {
  return { min: clamp(product(left.min, right.min)), max: clamp(product(left.max, right.max)) };
}

function product(left: number, right: number): number {
  return left === 0 || right === 0 ? 0 : left * right;
}

/** Multiplies by a factor, and rounds up. */
export function scaled(range: Range, factor: number): Range {
  return { min: clamp(Math.ceil(range.min * factor)), max: clamp(Math.ceil(range.max * factor)) };
}

export function union(left: Range, right: Range): Range {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}
