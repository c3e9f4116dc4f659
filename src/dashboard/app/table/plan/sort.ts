/**
 * The order of rows by a column: numbers, ages, quantities and fractions by their size, and texts by letters
 * and the numbers in them.
 */
export type Direction = 'ascending' | 'descending';

export interface Order {
  /** Name of a column. */
  readonly column: string;
  readonly direction: Direction;
}

/**
 * A number, or a text that is not sorted as a number; undefined for empty cells, which are last in both
 * directions.
 */
export type SortKey = number | string | undefined;

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, y: 31_536_000 };
const prefixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

const duration = /^(\d+[ydhms])+$/;
const quantity = /^(\d+(?:\.\d+)?)(n|u|m|k|M|G|T|Ki|Mi|Gi|Ti)$/;
const leading = /^(-?\d+(?:\.\d+)?)(?:%|\/(\d+))?(?:$|\s)/;

/**
 * Returns the key by which a cell is sorted: the seconds of a duration such as `5h3m`; of `1/3` the quotient,
 * and the larger denominator after the smaller one for equal quotients.
 */
export function sortKeyOf(cell: unknown): SortKey {
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return cell ? 1 : 0;
  const text = String(cell ?? '').trim();
  if (empty.has(text)) return undefined;
  return secondsOf(text) ?? amountOf(text) ?? numberOf(text) ?? text;
}

const empty = new Set(['', '<none>', '<unknown>']);

function secondsOf(text: string): number | undefined {
  if (!duration.test(text)) return undefined;
  const parts = text.matchAll(/(\d+)([ydhms])/g);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
}

function amountOf(text: string): number | undefined {
  const [, amount, prefix] = quantity.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (prefixes[prefix ?? ''] ?? 1);
}

function numberOf(text: string): number | undefined {
  const [, first, whole] = leading.exec(text) ?? [];
  if (first === undefined) return undefined;
  if (whole === undefined) return Number(first);
  return Number(whole) === 0 ? 1 : Number(first) / Number(whole) + Number(whole) * 1e-9;
}

const collator = new Intl.Collator('en', { numeric: true });

export function compareKeys(a: SortKey, b: SortKey): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  return collator.compare(a ?? '', b ?? '');
}

/** Returns the rows in the order of their keys; rows of equal keys, and empty cells, keep their order. */
export function sorted<T>(rows: readonly T[], direction: Direction, keyOf: (row: T) => SortKey): T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  const sign = direction === 'ascending' ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined);
    return sign * compareKeys(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

/** Reads an order from the address: `Age`, or `-Age` for the descending one. */
export function orderOf(text: string): Order | undefined {
  if (text === '') return undefined;
  return text.startsWith('-')
    ? { column: text.slice(1), direction: 'descending' }
    : { column: text, direction: 'ascending' };
}

export const orderText = (order: Order | undefined): string =>
  order === undefined ? '' : (order.direction === 'descending' ? '-' : '') + order.column;

/** Returns the order after a click on a column's head: ascending, descending, the server's. */
export function nextOrder(order: Order | undefined, column: string): Order | undefined {
  if (order?.column !== column) return { column, direction: 'ascending' };
  return order.direction === 'ascending' ? { column, direction: 'descending' } : undefined;
}
