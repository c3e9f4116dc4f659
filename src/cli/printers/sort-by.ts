/** The order of `--sort-by`, like kubectl's sorter. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { findAll } from '../../apimachinery/jsonpath/evaluate.ts';
import { parsePath } from '../../apimachinery/jsonpath/parse.ts';
import { compareQuantities, tryParseQuantity } from '../../apimachinery/quantity.ts';

/**
 * Sorts in place by the value of a field; items without the field come first. Throws if no item has the
 * field, and for values without an order.
 */
export function sortBy<T>(list: T[], path: string, objectOf: (item: T) => JsonObject): void {
  if (list.length < 2) return;
  const nodes = parsePath(path);
  const keys = new Map(list.map((item) => [item, findAll(nodes, objectOf(item))[0]]));
  const values = [...keys.values()].filter((value) => !isMissing(value));
  if (values.length === 0)
    throw new Error(`couldn't find any field with path "${braced(path)}" in the list of objects`);
  if (values.some(isRecord)) throw new Error(`the values of field ${path} are objects, which have no order`);
  list.sort((a, b) => compare(keys.get(a), keys.get(b)));
}

const braced = (path: string) => (path.startsWith('{') ? path : `{.${path.replace(/^\./, '')}}`);

const isMissing = (value: unknown) => value === undefined || value === null;

function compare(a: unknown, b: unknown): number {
  const missing = Number(isMissing(b)) - Number(isMissing(a));
  if (missing !== 0) return missing;
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return Number(a) - Number(b) || 0;
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [index, item] of a.entries()) {
    if (index >= b.length) return 1;
    const order = compare(item, b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Compares quantities by value, other texts by their characters. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [tryParseQuantity(a), tryParseQuantity(b)];
  if (left && right) return compareQuantities(left, right);
  return a < b ? -1 : a > b ? 1 : 0;
}
