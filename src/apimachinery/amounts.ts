/** Amounts of several resources, exact: requests, usage and limits (upstream: ResourceList). Pure. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  tryParseQuantity,
} from './quantity.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

/** Amounts in the form that API objects have. */
export type WrittenAmounts = Readonly<Record<string, string>>;

/** Returns the amounts, leaving out every text that is not a quantity. */
export function readAmounts(written: WrittenAmounts = {}): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(written)) {
    const quantity = tryParseQuantity(text);
    if (quantity) amounts.set(name, quantity);
  }
  return amounts;
}

export const writeAmounts = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries([...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)]));

/** Adds `more` to `sum`, in place. */
export function addTo(sum: Map<string, Quantity>, more: Amounts): void {
  for (const [name, quantity] of more) {
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, quantity) : quantity);
  }
}

/** Raises `most`, in place, to the larger amount for each name. */
export function raiseTo(most: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, quantity] of amounts) {
    const before = most.get(name);
    if (!before || compareQuantities(quantity, before) > 0) most.set(name, quantity);
  }
}

/** Returns the amounts whose names are in `names`, in the order of `amounts`. */
export const amountsOf = (amounts: Amounts, names: ReadonlySet<string>): Map<string, Quantity> =>
  new Map([...amounts].filter(([name]) => names.has(name)));
