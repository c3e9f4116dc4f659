/**
 * The IPv6 side of the overlay. Packets of IPv6 travel in the same VXLAN link as those of IPv4, over the IPv4
 * addresses of the nodes. Pure.
 */
import { podCIDR6Annotation } from '../../api/core/v1/node/annotations.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { liesIn, type PrefixRange, rangesMeet, rangeText, readRange } from '../../base/address-families.ts';
import { formatAddress } from '../../base/addresses.ts';

export interface IPv6Facts {
  /** Range of this node's pods, in canonical form. */
  readonly podCIDR: string;
  readonly clusterCIDR: string;
  readonly serviceCIDR: string;
  /** Address of this node; without one, its programs do not reach Services of IPv6. */
  readonly nodeIPv6: string | undefined;
}

/** Returns the first address of a range, which nodes have on the overlay. */
export function firstOf6(cidr: string): string {
  const range = readRange(cidr);
  if (!range) throw new Error(`${JSON.stringify(cidr)} is not a range`);
  return formatAddress(range.family, range.first);
}

/** Returns the routes that do not depend on other nodes; see `ownRoutes` of plan.ts. */
export function ownRoutes6(
  facts: IPv6Facts | undefined,
  dev: string | undefined,
): ReadonlyMap<string, string> {
  if (!facts) return new Map();
  const { clusterCIDR, serviceCIDR, nodeIPv6 } = facts;
  const routes = new Map([[clusterCIDR, 'unreachable']]);
  if (dev !== undefined && nodeIPv6 !== undefined) routes.set(serviceCIDR, `dev ${dev} src ${nodeIPv6}`);
  return routes;
}

/** Ranges of IPv6 of other nodes, each of which the oldest node that announces it gets. */
export class Ranges6 {
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

/** Returns the range of IPv6 that a node has announced, in canonical form where it is a range. */
export function announcedRange6({ metadata }: KubeObject): string | undefined {
  const text = metadata.annotations?.[podCIDR6Annotation];
  const range = text === undefined ? undefined : readRange(text);
  return range ? rangeText(range) : text;
}
