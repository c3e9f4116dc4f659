/**
 * The pool of addresses for Services of type LoadBalancer: a ConfigMap in kube-system, which only
 * administrators write. Pure.
 */
import { formatIPv4, parseIPv4, rangeAround, sizeOf } from '../../../../base/addresses.ts';
import type { ConfigMap } from '../types.gen.ts';

/** Namespace and name of the ConfigMap, and its key with the ranges. */
export const poolPlace = { namespace: 'kube-system', name: 'load-balancer-pool' } as const;
export const poolKey = 'addresses';

/** Addresses from `first` to `last`, as numbers. */
export interface AddressSpan {
  readonly first: number;
  readonly last: number;
}

/** Spans in the order in which addresses are assigned. */
export type AddressPool = readonly AddressSpan[];

/** The pool; undefined without a ConfigMap. `problem` says why a ConfigMap has no usable pool. */
export type PoolState = { readonly pool: AddressPool } | { readonly problem: string } | undefined;

/** Maximum addresses of a pool: each search for a free address passes all of them. */
const maxAddresses = 65_536;

/**
 * Reads ranges such as `192.168.1.240-192.168.1.250, 192.168.2.0/28`, separated by commas, spaces or line
 * ends.
 */
export function poolOf(configMap: ConfigMap | undefined): PoolState {
  if (!configMap) return undefined;
  const words = (configMap.data?.[poolKey] ?? '').split(/[\s,]+/).filter(Boolean);
  const place = `the ConfigMap ${poolPlace.namespace}/${poolPlace.name}`;
  if (words.length === 0) return { problem: `${place} has no ranges under the key ${poolKey}` };
  const pool: AddressSpan[] = [];
  for (const word of words) {
    const span = spanOf(word);
    const expected = 'expected ranges such as 192.168.1.240-192.168.1.250 or 192.168.2.0/28';
    if (!span) return { problem: `${place} has the range ${JSON.stringify(word.slice(0, 50))}: ${expected}` };
    pool.push(span);
  }
  const count = countOf(pool);
  if (count > maxAddresses)
    return { problem: `${place} has ${count} addresses: at most ${maxAddresses} are possible` };
  return { pool };
}

function spanOf(word: string): AddressSpan | undefined {
  const range = rangeAround(word);
  if (range) return { first: range.first, last: range.first + sizeOf(range) - 1 };
  const [from = '', to = from, ...more] = word.split('-');
  const [first, last] = [parseIPv4(from), parseIPv4(to)];
  if (first === undefined || last === undefined || first > last || more.length > 0) return undefined;
  return { first, last };
}

/** Returns the number of addresses. */
export const countOf = (pool: AddressPool): number =>
  pool.reduce((sum, { first, last }) => sum + last - first + 1, 0);

export function isInPool(pool: AddressPool, address: string): boolean {
  const value = parseIPv4(address);
  return value !== undefined && pool.some(({ first, last }) => first <= value && value <= last);
}

export function* addressesOf(pool: AddressPool): Generator<string> {
  for (const { first, last } of pool) for (let one = first; one <= last; one++) yield formatIPv4(one);
}
