/**
 * Detects overlaps between the addresses of this machine and the cluster's ranges for pods and Services.
 * Pure.
 */
import { liesIn } from '../base/address-families.ts';
import { defaultNames } from './rules.ts';

/** A route in the form of `ip -json route show`, with the fields that are used here. */
export interface KernelRoute {
  /** `default`, an address or a range. */
  readonly dst: string;
  readonly dev?: string;
  readonly gateway?: string;
  readonly protocol?: string;
}

/** A link in the form of `ip -json address show`. */
export interface KernelLink {
  readonly ifname: string;
  readonly addr_info: readonly { readonly local?: string; readonly prefixlen?: number }[];
}

export interface MachineAddresses {
  readonly routes: readonly KernelRoute[];
  readonly links: readonly KernelLink[];
}

/** The setting's name, and its range. */
export type ClusterRange = readonly [name: 'cluster-cidr' | 'service-cidr', cidr: string];

/**
 * Returns the conflict and the remedy in one line, or undefined if there is no conflict. Addresses and routes
 * of minik8s itself are ignored.
 */
export function overlap(
  { routes, links }: MachineAddresses,
  ranges: readonly ClusterRange[],
): string | undefined {
  for (const [index, first] of ranges.entries()) {
    const second = ranges
      .slice(index + 1)
      .find(([, cidr]) => liesIn(cidr, first[1]) || liesIn(first[1], cidr));
    if (second)
      return `${first[0]} ${first[1]} and ${second[0]} ${second[1]} overlap; give one of them another range`;
  }
  for (const [name, cidr] of ranges) {
    const used = addressIn(cidr, links) ?? routeIn(cidr, routes);
    if (used) return `${used} lies in ${name} ${cidr}; give the master and all nodes another ${name}`;
  }
  return undefined;
}

function addressIn(cidr: string, links: readonly KernelLink[]): string | undefined {
  for (const { ifname, addr_info } of links.filter(({ ifname }) => !isOurs(ifname))) {
    const found = addr_info.find(({ local }) => local !== undefined && liesIn(cidr, asRange(local)));
    if (found) return `address ${found.local} of this machine's ${ifname}`;
  }
  return undefined;
}

function routeIn(cidr: string, routes: readonly KernelRoute[]): string | undefined {
  const found = routes.find(
    ({ dst, dev = '', protocol }) =>
      dst !== 'default' &&
      !isOurs(dev) &&
      protocol !== String(defaultNames.routeProtocol) &&
      liesIn(cidr, dst.includes('/') ? dst : asRange(dst)),
  );
  return found && `this machine's route to ${found.dst}${found.dev ? ` through ${found.dev}` : ''}`;
}

/** Returns the range of a single address. */
const asRange = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

/** Returns true for a link that minik8s has made. */
export const isOurs = (link: string) =>
  link.startsWith(defaultNames.linkPrefix) || link.startsWith('minik8s.');
