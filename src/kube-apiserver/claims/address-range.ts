/** The addresses of an IPv4 network that Services may have: all except the first and the last. */
import { formatIPv4, parseIPv4, rangeAround, sizeOf } from '../../base/addresses.ts';

export interface AddressRange {
  /** The first usable address as a number. */
  readonly first: number;
  readonly size: number;
}

/** Parses `10.96.0.0/16`; throws for a text that is no IPv4 network with usable addresses. */
export function parseRange(cidr: string): AddressRange {
  const range = rangeAround(cidr);
  if (!range || range.prefix > 30) {
    throw new Error(`${JSON.stringify(cidr)} is not an IPv4 network: write one such as 10.96.0.0/16`);
  }
  return { first: range.first + 1, size: sizeOf(range) - 2 };
}

export const addressAt = (range: AddressRange, position: number) => formatIPv4(range.first + position);

/** Returns the position of an address in the range; undefined outside it. */
export function positionIn(range: AddressRange, ip: string): number | undefined {
  const position = (parseIPv4(ip) ?? -1) - range.first;
  return position >= 0 && position < range.size ? position : undefined;
}
