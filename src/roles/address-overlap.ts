/**
 * Detects overlaps between the addresses of this machine and the cluster's ranges for pods and Services.
 * Pure.
 */
import { contains } from '../network/overlay/ranges.ts';
import { defaultNames } from '../network/rules.ts';

/** A route in the form of `ip -json -4 route show`, with the fields that are used here. */
export interface KernelRoute {
  /** `default`, an address or a range. */
  readonly dst: string;
  readonly dev?: string;
  readonly gateway?: string;
  readonly protocol?: string;
}

/** A link in the form of `ip -json -4 address show`. */
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
  const [first, second] = ranges;
  if (first && second && (contains(first[1], second[1]) || contains(second[1], first[1]))) {
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
    const found = addr_info.find(({ local }) => local !== undefined && contains(cidr, `${local}/32`));
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
      contains(cidr, dst.includes('/') ? dst : `${dst}/32`),
  );
  return found && `this machine's route to ${found.dst}${found.dev ? ` through ${found.dev}` : ''}`;
}

const isOurs = (link: string) => link.startsWith(defaultNames.linkPrefix) || link.startsWith('minik8s.');
