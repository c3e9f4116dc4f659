/** Addresses of ranges (CIDR) without their exceptions, as ranges that do not overlap. Pure. */
import { type AddressLimits, formatAddress, limitsOfCIDR } from './addresses.ts';

export interface Block {
  readonly cidr: string;
  readonly except: readonly string[];
}

type Limits = Pick<AddressLimits, 'first' | 'last'>;

/** Returns the ranges of a family as nft writes them, `FIRST-LAST` or one address; sorted. */
export function blockRanges(blocks: readonly Block[], family: 4 | 6): readonly string[] {
  const parts = blocks.flatMap(({ cidr, except }) => {
    const limits = limitsOfCIDR(cidr);
    return limits?.family === family ? without(limits, except) : [];
  });
  return united(parts).map(({ first, last }) =>
    first === last
      ? formatAddress(family, first)
      : `${formatAddress(family, first)}-${formatAddress(family, last)}`,
  );
}

function without(block: AddressLimits, except: readonly string[]): Limits[] {
  const holes = except.flatMap((text) => {
    const hole = limitsOfCIDR(text);
    const inside = hole?.family === block.family && hole.first >= block.first && hole.last <= block.last;
    return inside ? [hole] : [];
  });
  const left: Limits[] = [];
  let next = block.first;
  for (const { first, last } of united(holes)) {
    if (first > next) left.push({ first: next, last: first - 1n });
    if (last >= next) next = last + 1n;
  }
  if (next <= block.last) left.push({ first: next, last: block.last });
  return left;
}

/** Returns a function that decides whether an address is in the block and in no exception. */
export function insideBlock({ cidr, except }: Block): (ip: string) => boolean {
  const limits = limitsOfCIDR(cidr);
  const parts = limits ? without(limits, except) : [];
  return (ip) => {
    const address = limitsOfCIDR(`${ip}/${ip.includes(':') ? 128 : 32}`);
    if (address?.family !== limits?.family) return false;
    return parts.some(
      ({ first, last }) => address !== undefined && first <= address.first && address.first <= last,
    );
  };
}

/** Joins ranges that overlap or touch. */
function united(ranges: readonly Limits[]): Limits[] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const joined: Limits[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    if (!last || range.first > last.last + 1n) joined.push(range);
    else if (range.last > last.last) joined[joined.length - 1] = { first: last.first, last: range.last };
  }
  return joined;
}
