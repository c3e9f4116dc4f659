/**
 * Addresses that no Service may use as an external address: those of the cluster and of its machines. Pure.
 */
import { insideBlock } from '../../../../base/address-ranges.ts';
import { addressKind, canonicalAddress, isCIDR } from '../../../../base/addresses.ts';

export interface ReservedAddresses {
  /** Ranges with their description, such as `the range of Services`. */
  readonly ranges: readonly { readonly range: string; readonly what: string }[];
  /** Addresses, in any spelling, with their owner, such as `node a`. */
  readonly machines: Iterable<{ readonly address: string; readonly what: string }>;
}

/** Returns the ranges of the cluster, whose texts are those of one range or of one of each family. */
export const clusterRanges = (cluster: { readonly serviceCIDR: string; readonly clusterCIDR: string }) => [
  ...cluster.serviceCIDR.split(',').map((range) => ({ range, what: 'the range of Services' })),
  ...cluster.clusterCIDR.split(',').map((range) => ({ range, what: 'the range of pods' })),
];

/**
 * Returns a function that gives the owner of an address, such as `the address of node a`. It gives undefined
 * for an address that Services may use as an external one, and for a text that is not an address. The ranges
 * and machines are read once.
 */
export function reservedReader({
  ranges,
  machines,
}: ReservedAddresses): (text: string) => string | undefined {
  const read = ranges.flatMap(({ range: written, what }) => {
    if (!isCIDR(written)) return [];
    return [{ includes: insideBlock({ cidr: written, except: [] }), what: `in ${what}, ${written}` }];
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
    return owners.get(address) ?? read.find(({ includes }) => includes(address))?.what;
  };
}
