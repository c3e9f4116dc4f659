/**
 * The pool of addresses for Services of type LoadBalancer: a ConfigMap in kube-system, which only
 * administrators write. Pure.
 */
import { type AddressFamily, familyOf } from '../../../../base/address-families.ts';
import { type AddressLimits, formatAddress, limitsOfCIDR } from '../../../../base/addresses.ts';
import type { ConfigMap } from '../types.gen.ts';

/** Namespace and name of the ConfigMap, and its key with the ranges. */
export const poolPlace = { namespace: 'kube-system', name: 'load-balancer-pool' } as const;
export const poolKey = 'addresses';

/** Spans in the order in which addresses are assigned. */
export type AddressPool = readonly AddressLimits[];

/** The pool; undefined without a ConfigMap. `problem` says why a ConfigMap has no usable pool. */
export type PoolState = { readonly pool: AddressPool } | { readonly problem: string } | undefined;

/** Maximum addresses of a pool: each search for a free address passes all of them. */
const maxAddresses = 65_536;

/**
 * Reads ranges such as `192.168.1.240-192.168.1.250, 192.168.2.0/28, fd00:1::100/120`, separated by commas,
 * spaces or line ends.
 */
export function poolOf(configMap: ConfigMap | undefined): PoolState {
  if (!configMap) return undefined;
  const words = (configMap.data?.[poolKey] ?? '').split(/[\s,]+/).filter(Boolean);
  const place = `the ConfigMap ${poolPlace.namespace}/${poolPlace.name}`;
  if (words.length === 0) return { problem: `${place} has no ranges under the key ${poolKey}` };
  const pool: AddressLimits[] = [];
  for (const word of words) {
    const span = spanOf(word);
    const expected = 'expected ranges such as 192.168.1.240-192.168.1.250 or 192.168.2.0/28, or of IPv6';
    if (!span) return { problem: `${place} has the range ${JSON.stringify(word.slice(0, 50))}: ${expected}` };
    pool.push(span);
  }
  const count = countOf(pool);
  if (count > maxAddresses)
    return { problem: `${place} has ${count} addresses: at most ${maxAddresses} are possible` };
  return { pool };
}

function spanOf(word: string): AddressLimits | undefined {
  const [from = '', to = from, ...more] = word.split('-');
  if (word.includes('/')) return hasFamily(word.split('/')[0]) ? limitsOfCIDR(word) : undefined;
  const [first, last] = [single(from), single(to)];
  if (!first || !last || more.length > 0) return undefined;
  if (first.family !== last.family || first.first > last.last) return undefined;
  return { family: first.family, first: first.first, last: last.last };
}

const hasFamily = (address = '') => familyOf(address) !== undefined;

/** Returns the span of one address; undefined for a text that is not an address. */
function single(address: string): AddressLimits | undefined {
  const family = familyOf(address);
  return family && limitsOfCIDR(`${address}/${family === 'IPv4' ? 32 : 128}`);
}

/** Returns the number of addresses. */
export const countOf = (pool: AddressPool): bigint =>
  pool.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);

/** Returns the part of a pool that has addresses of a family. */
export const poolOfFamily = (pool: AddressPool, family: AddressFamily): AddressPool =>
  pool.filter((span) => span.family === (family === 'IPv4' ? 4 : 6));

export function isInPool(pool: AddressPool, address: string): boolean {
  const one = single(address);
  if (!one) return false;
  return pool.some(
    ({ family, first, last }) => family === one.family && first <= one.first && one.first <= last,
  );
}

export function* addressesOf(pool: AddressPool): Generator<string> {
  for (const { family, first, last } of pool)
    for (let one = first; one <= last; one++) yield formatAddress(family, one);
}
