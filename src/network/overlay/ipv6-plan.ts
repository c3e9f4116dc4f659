/**
 * The IPv6 side of the overlay. Packets of IPv6 travel in the same VXLAN link as those of IPv4, over the IPv4
 * addresses of the nodes. Pure.
 */
import { nodeIPv6Annotation, podCIDR6Annotation } from '../../api/core/v1/node/annotations.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  familyOf,
  liesIn,
  type PrefixRange,
  rangesMeet,
  rangeText,
  readRange,
} from '../../base/address-families.ts';
import { addressKind, canonicalAddress, formatAddress, limitsOfCIDR } from '../../base/addresses.ts';

export interface IPv6Facts {
  /** Range of this node's pods, in canonical form. */
  readonly podCIDR: string;
  readonly clusterCIDR: string;
  readonly serviceCIDR: string;
  /** Address of this node; without one, its programs do not reach Services of IPv6. */
  readonly nodeIPv6: string | undefined;
  /** The link that has this address, for host routes; undefined if there is none. */
  readonly underlay: { readonly dev: string; readonly network: string } | undefined;
}

/** Returns the first address of a range, which nodes have on the overlay. */
export function firstOf6(cidr: string): string {
  const range = readRange(cidr);
  if (!range) throw new Error(`${JSON.stringify(cidr)} is not a range`);
  return formatAddress(range.family, range.first);
}

/** Returns the network around an address with a prefix length: `2001:db8::7/64` is in `2001:db8::/64`. */
export function networkOf6(text: string): string {
  const limits = limitsOfCIDR(text);
  if (limits?.family !== 6) throw new Error(`${JSON.stringify(text)} is not a range of IPv6`);
  return rangeText({ ...limits, prefix: Number(text.split('/')[1]) });
}

/**
 * Returns the route to the pods of another node without encapsulation, through its IPv6 address; undefined if
 * the two nodes share no link.
 */
function hostRoute6({ underlay }: IPv6Facts, address: string | undefined): string | undefined {
  if (address === undefined || !underlay || !liesIn(underlay.network, `${address}/128`)) return undefined;
  return `via ${address} dev ${underlay.dev}`;
}

/** Returns the routes that do not depend on other nodes; see `ownRoutes` of plan.ts. */
export function ownRoutes6(
  facts: IPv6Facts | undefined,
  dev: string | undefined,
  furtherRanges: readonly string[] = [],
): ReadonlyMap<string, string> {
  if (!facts) return new Map();
  const { clusterCIDR, serviceCIDR, nodeIPv6 } = facts;
  const routes = new Map([[clusterCIDR, 'unreachable']]);
  if (dev !== undefined && nodeIPv6 !== undefined)
    for (const range of [serviceCIDR, ...furtherRanges]) routes.set(range, `dev ${dev} src ${nodeIPv6}`);
  return routes;
}

/** Ranges of IPv6 of other nodes, each of which the oldest node that announces it gets. */
class Ranges6 {
  readonly #clusterCIDR: string;
  readonly #claimed: { readonly range: PrefixRange; readonly owner: string }[] = [];

  constructor(clusterCIDR: string) {
    this.#clusterCIDR = clusterCIDR;
  }

  /** Claims a range. Returns the reason, and claims nothing, if it cannot be used. */
  claim(text: string, owner: string): string | undefined {
    const range = readRange(text);
    if (range?.family !== 6)
      return `its pods' range ${JSON.stringify(text)} is no range of IPv6; make the node again with one`;
    if (!liesIn(this.#clusterCIDR, text))
      return `its pod range ${text} is not in cluster-cidr ${this.#clusterCIDR}; delete the Node and let it join with a range that is`;
    const clash = this.#claimed.find((other) => rangesMeet(other.range, range));
    if (clash)
      return `its pod range ${text} overlaps that of node ${clash.owner} (${rangeText(clash.range)}); delete the Node and let it join with another range`;
    this.#claimed.push({ range, owner });
    return undefined;
  }
}

/** The facts of another node that its IPv6 side depends on. */
export interface PeerIPv6 {
  readonly name: string;
  /** Undefined for a node that receives packets without VXLAN. */
  readonly mac: string | undefined;
  /** Range of IPv6 that the node has announced; not checked. */
  readonly range6: string | undefined;
  /** Address of IPv6 that the node has announced. */
  readonly address6: string | undefined;
}

/** Adds the ways to the IPv6 addresses of other nodes' pods. Returns a line for each node without one. */
export function addIPv6(
  { routes, neighbours }: Record<'routes' | 'neighbours', Map<string, string>>,
  six: IPv6Facts | undefined,
  peers: readonly PeerIPv6[],
  linkName: string | undefined,
): readonly string[] {
  if (!six) return [];
  const ranges = new Ranges6(six.clusterCIDR);
  ranges.claim(six.podCIDR, 'this node');
  return peers.flatMap(({ name, range6, address6, mac }) => {
    if (range6 === undefined) return [];
    const problem = ranges.claim(range6, name);
    if (problem !== undefined) return [`node ${name}: ${problem}`];
    if (linkName !== undefined && mac !== undefined) {
      const address = firstOf6(range6);
      routes.set(range6, `via ${address} dev ${linkName} onlink`);
      neighbours.set(address, mac);
      return [];
    }
    const route = hostRoute6(six, address6);
    if (route === undefined) return [`node ${name}: ${onlyIPv4}`];
    routes.set(range6, route);
    return [];
  });
}

const onlyIPv4 =
  'its pods are reached over IPv4 only, since the two nodes have no IPv6 addresses on one link, and one of the two has --overlay host-routes: give them addresses, or both --overlay vxlan';

/** Returns the unicast IPv6 address that a node has announced, in canonical form; undefined without one. */
export function announcedAddress6({ metadata }: KubeObject): string | undefined {
  const text = metadata.annotations?.[nodeIPv6Annotation];
  if (text === undefined || familyOf(text) !== 'IPv6' || addressKind(text) !== 'unicast') return undefined;
  return canonicalAddress(text);
}

/** Returns the range of IPv6 that a node has announced, in canonical form where it is a range. */
export function announcedRange6({ metadata }: KubeObject): string | undefined {
  const text = metadata.annotations?.[podCIDR6Annotation];
  const range = text === undefined ? undefined : readRange(text);
  return range ? rangeText(range) : text;
}
