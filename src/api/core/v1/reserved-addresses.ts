/** Addresses that no Service may have as an external address: those of the cluster itself and of its machines. Pure. */
import {
  addressKind,
  canonicalAddress,
  hasAddress,
  type IPv4Range,
  rangeAround,
} from '../../../base/addresses.ts';

export interface ReservedAddresses {
  /** Each with what it is, such as `the range of Services`. */
  readonly ranges: readonly { readonly range: string; readonly what: string }[];
  /** Each with whose it is, such as `node a`; in any spelling. */
  readonly machines: Iterable<{ readonly address: string; readonly what: string }>;
}

/**
 * Returns a function that says whose an address is, such as `the address of node a`, or undefined for an address that
 * Services may have as an external one. A text that is no address is nobody's. The ranges and machines are read once.
 */
export function reservedReader({
  ranges,
  machines,
}: ReservedAddresses): (text: string) => string | undefined {
  const read = ranges.flatMap(({ range: written, what }) => {
    const range: IPv4Range | undefined = rangeAround(written);
    return range ? [{ range, what: `in ${what}, ${written}` }] : [];
  });
  const owners = new Map<string, string>();
  for (const { address, what } of machines) {
    const canonical = canonicalAddress(address);
    if (canonical !== undefined && !owners.has(canonical)) owners.set(canonical, `the address of ${what}`);
  }
  return (text) => {
    const address = canonicalAddress(text);
    if (address === undefined) return undefined;
    const kind = addressKind(address);
    if (kind !== 'unicast') return `a ${kind} address`;
    return owners.get(address) ?? read.find(({ range }) => hasAddress(range, address))?.what;
  };
}
