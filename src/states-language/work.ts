/**
 * Total cost of the paths, functions and rules of one state. Each alone is bounded, but a definition has room
 * for thousands of them, and they run on the thread that serves all requests.
 */
import { childrenOf, type Json } from './json.ts';
import { maxStateWork } from './limits.ts';

/** Number of characters of a text that cost as much as one value. */
const charactersOfValue = 64;

export const workProblem = `the paths, functions and rules of the state look at more than ${maxStateWork} values together`;

export class Work {
  /** Remaining number of values. */
  left = maxStateWork;
  readonly #onTaken: (values: number) => void;

  constructor(onTaken: (values: number) => void = () => undefined) {
    this.#onTaken = onTaken;
  }

  /** Takes `values` from the rest. Returns true if they were available. */
  take(values: number): boolean {
    this.left -= values;
    this.#onTaken(values);
    return this.left >= 0;
  }
}

/** Returns the cost of examining all values. The count stops as soon as it exceeds `most`. */
export function costOf(values: readonly (Json | undefined)[], most: number): number {
  let cost = 0;
  const rest = values.filter((value) => value !== undefined);
  for (let value = rest.pop(); value !== undefined && cost <= most; value = rest.pop()) {
    const children = childrenOf(value);
    cost += 1 + (typeof value === 'string' ? value.length / charactersOfValue : children.length);
    if (cost <= most) for (const child of children) rest.push(child);
  }
  return Math.ceil(cost);
}
