/** Amounts of several resources, exact: what is asked for, counted and limited (upstream: ResourceList). Pure. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  tryParseQuantity,
} from './quantity.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

/** As objects hold them. */
export type WrittenAmounts = Readonly<Record<string, string>>;

/** What is no quantity is left out. */
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

/** Changes `sum`. */
export function addTo(sum: Map<string, Quantity>, more: Amounts): void {
  for (const [name, quantity] of more) {
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, quantity) : quantity);
  }
}

/** Changes `most`: of each name the larger amount. */
export function raiseTo(most: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, quantity] of amounts) {
    const before = most.get(name);
    if (!before || compareQuantities(quantity, before) > 0) most.set(name, quantity);
  }
}

/** Those of the names, in the order of the amounts. */
export const amountsOf = (amounts: Amounts, names: ReadonlySet<string>): Map<string, Quantity> =>
  new Map([...amounts].filter(([name]) => names.has(name)));
