/**
 * The two families of addresses, and ranges of either. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`)
 * belongs to no family here: no range of a cluster has such addresses. Pure.
 */
import {
  type AddressLimits,
  canonicalAddress,
  formatAddress,
  isIPv4,
  isIPv6,
  limitsOfCIDR,
} from './addresses.ts';

export type AddressFamily = 'IPv4' | 'IPv6';

/** Families in the order in which a cluster with both lists them. */
export const addressFamilies: readonly AddressFamily[] = ['IPv4', 'IPv6'];

/**
 * Returns the family of an address; undefined for an IPv4-mapped IPv6 address, and for a text that is not an
 * address.
 */
export function familyOf(text: string): AddressFamily | undefined {
  if (isIPv4(text)) return 'IPv4';
  return isIPv6(text) && canonicalAddress(text)?.includes(':') ? 'IPv6' : undefined;
}

/** A cluster's ranges of one purpose, such as those of its pods: one of IPv4, and possibly one of IPv6. */
export interface FamilyRanges {
  readonly IPv4: string;
  readonly IPv6?: string | undefined;
}

/** Returns the ranges of a text such as `10.244.0.0/16,fd00:10:244::/56`; the first is one of IPv4. */
export function familyRanges(text: string): FamilyRanges {
  const [first = '', second] = text.split(',');
  return second === undefined ? { IPv4: first } : { IPv4: first, IPv6: second };
}

/** Returns the families of the ranges, the one of IPv4 first. */
export const familiesOf = ({ IPv6 }: FamilyRanges): readonly AddressFamily[] =>
  IPv6 === undefined ? ['IPv4'] : addressFamilies;

/** A range of either family. */
export interface PrefixRange extends AddressLimits {
  readonly prefix: number;
}

/** Returns the range; undefined unless the text is a range with its first address, in any spelling. */
export function readRange(text: string): PrefixRange | undefined {
  const [address = '', bits = ''] = text.split('/');
  const limits = limitsOfCIDR(text);
  if (!limits || familyOf(address) === undefined) return undefined;
  return canonicalAddress(address) === formatAddress(limits.family, limits.first)
    ? { ...limits, prefix: Number(bits) }
    : undefined;
}

/** Returns the canonical text of a range, which for IPv6 is that of RFC 5952. */
export const rangeText = ({ family, first, prefix }: Omit<PrefixRange, 'last'>): string =>
  `${formatAddress(family, first)}/${prefix}`;

/** Returns the canonical text of a range; undefined where `readRange` does. */
export function canonicalRange(text: string): string | undefined {
  const range = readRange(text);
  return range && rangeText(range);
}

/** Returns true if two ranges have an address in common. */
export const rangesMeet = (a: AddressLimits, b: AddressLimits): boolean =>
  a.family === b.family && a.first <= b.last && b.first <= a.last;

/** Returns true if the range `inner` lies in `outer`, or is the same; false if one of them is not a range. */
export function liesIn(outer: string, inner: string): boolean {
  const [around, within] = [limitsOfCIDR(outer), limitsOfCIDR(inner)];
  if (!around || around.family !== within?.family) return false;
  return around.first <= within.first && within.last <= around.last;
}

/** Returns the offset of an address from the first one of a range; undefined outside the range. */
export function offsetIn(range: string, address: string): bigint | undefined {
  const limits = limitsOfCIDR(range);
  const family = familyOf(address);
  const one = family && limitsOfCIDR(`${address}/${family === 'IPv4' ? 32 : 128}`);
  if (!limits || one?.family !== limits.family) return undefined;
  return one.first >= limits.first && one.first <= limits.last ? one.first - limits.first : undefined;
}

/** Returns the address at an offset in a range; undefined outside the range. */
export function addressAtOffset(range: string, offset: bigint): string | undefined {
  const limits = limitsOfCIDR(range);
  if (!limits || offset < 0n || limits.first + offset > limits.last) return undefined;
  return formatAddress(limits.family, limits.first + offset);
}
