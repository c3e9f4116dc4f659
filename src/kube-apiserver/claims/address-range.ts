/**
 * The addresses of a network that Services may have: all except the first, and in IPv4 except the last, which
 * is the network's broadcast address.
 */
import { type AddressFamily, familyOf, readRange } from '../../base/address-families.ts';
import { formatAddress, limitsOfCIDR, rangeAround } from '../../base/addresses.ts';

export interface AddressRange {
  readonly family: AddressFamily;
  /** The first usable address as a number. */
  readonly first: bigint;
  /** Number of addresses that are chosen from; of a large network, the first ones. */
  readonly size: number;
  /** The last usable address. */
  readonly last: bigint;
}

/** Maximum number of bits after the prefix of an IPv6 network (as upstream): about a million addresses. */
const maxHostBits = 20;

/**
 * Parses `10.96.0.0/16` or `fd00:10:96::/112`; throws for a text that is no network with usable addresses, or
 * that is an IPv6 network of more than 2²⁰ addresses.
 */
export function parseRange(cidr: string): AddressRange {
  return cidr.includes(':') ? parseIPv6(cidr) : parseIPv4(cidr);
}

function parseIPv4(cidr: string): AddressRange {
  const range = rangeAround(cidr);
  if (!range || range.prefix > 30) {
    throw new Error(`${JSON.stringify(cidr)} is not an IPv4 network: write one such as 10.96.0.0/16`);
  }
  return networkRange(cidr);
}

function parseIPv6(cidr: string): AddressRange {
  const range = readRange(cidr);
  if (range?.family !== 6 || range.prefix > 126 || range.prefix < 128 - maxHostBits)
    throw new Error(
      `${JSON.stringify(cidr)} is not an IPv6 network of 108 to 126 bits: write one such as fd00:10:96::/112`,
    );
  return networkRange(cidr);
}

/**
 * Returns the usable addresses of any network in canonical form, of which a small one may have none. Of an
 * IPv6 network, only the first 2²⁰ addresses are chosen from; the others may be requested.
 */
export function networkRange(cidr: string): AddressRange {
  const limits = limitsOfCIDR(cidr);
  if (!limits) throw new Error(`${JSON.stringify(cidr)} is not a network`);
  const family = limits.family === 4 ? 'IPv4' : 'IPv6';
  const first = limits.first + 1n;
  const last = family === 'IPv4' ? limits.last - 1n : limits.last;
  const count = last - first + 1n;
  const chosen =
    family === 'IPv6' && count >= 1n << BigInt(maxHostBits) ? 2n ** BigInt(maxHostBits) - 1n : count;
  return { family, first, last, size: Math.max(0, Number(chosen)) };
}

export const addressAt = (range: AddressRange, position: number) =>
  formatAddress(range.family === 'IPv4' ? 4 : 6, range.first + BigInt(position));

/** Returns the position of an address in the range; undefined outside it. */
export function positionIn(range: AddressRange, ip: string): number | undefined {
  if (familyOf(ip) !== range.family) return undefined;
  const limits = limitsOfCIDR(`${ip}/${range.family === 'IPv4' ? 32 : 128}`);
  const position = limits ? limits.first - range.first : -1n;
  return position >= 0n && position <= range.last - range.first ? Number(position) : undefined;
}
