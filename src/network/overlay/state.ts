/** The state of the overlay in this machine's kernel, and the difference between two states. Pure. */

/** The link that carries pods' packets to other nodes inside UDP (RFC 7348). */
export interface VxlanLink {
  /** This node's address, and the link with this address. */
  readonly local: string;
  readonly dev: string;
  readonly mac: string;
  readonly mtu: number;
  /** Source address of this node for pods of other nodes: the first address of its pods' range. */
  readonly address: string;
  /** As `address`, in the range of IPv6; absent without one. */
  readonly address6?: string;
}

/** The maps' keys are those by which the kernel identifies entries; the values are the entries' actions. */
export interface OverlayState {
  readonly vxlan: VxlanLink | undefined;
  /**
   * Network to `unreachable`, to `dev LINK src ADDRESS` for Services, or to `via ADDRESS dev LINK`, with
   * `onlink` if ip(8) requires it.
   */
  readonly routes: ReadonlyMap<string, string>;
  /** Address on the overlay to MAC address. */
  readonly neighbours: ReadonlyMap<string, string>;
  /** MAC address to the address of the node behind it. */
  readonly forwarding: ReadonlyMap<string, string>;
  /** The addresses from which VXLAN packets are accepted while the link exists; undefined if unknown. */
  readonly senders: ReadonlySet<string> | undefined;
}

export interface MapChange {
  readonly removed: readonly string[];
  /** Entries that are new or have another value. */
  readonly set: ReadonlyMap<string, string>;
}

export interface OverlayChange {
  /** The old link, if it must be removed; routes over it are removed with it. */
  readonly removedLink: VxlanLink | undefined;
  readonly addedLink: VxlanLink | undefined;
  /** New MTU of a link that is kept. */
  readonly mtu: number | undefined;
  readonly routes: MapChange;
  readonly neighbours: MapChange;
  readonly forwarding: MapChange;
  /** `whole` replaces all senders, or removes the table if it is undefined; undefined without a change. */
  readonly senders:
    | { readonly whole: ReadonlySet<string> | undefined }
    | { readonly added: readonly string[]; readonly removed: readonly string[] }
    | undefined;
}

/**
 * Returns the change; undefined if there is none. `overLink` selects the routes that the kernel removes with
 * the link.
 */
export function change(
  from: OverlayState,
  to: OverlayState,
  overLink: (route: string) => boolean,
): OverlayChange | undefined {
  const stays = from.vxlan !== undefined && to.vxlan !== undefined && sameLink(from.vxlan, to.vxlan);
  const routes = stays ? from.routes : without(from.routes, overLink);
  const result: OverlayChange = {
    removedLink: stays ? undefined : from.vxlan,
    addedLink: stays ? undefined : to.vxlan,
    mtu: stays && from.vxlan?.mtu !== to.vxlan?.mtu ? to.vxlan?.mtu : undefined,
    routes: mapChange(routes, to.routes),
    neighbours: mapChange(stays ? from.neighbours : new Map(), to.neighbours),
    forwarding: mapChange(stays ? from.forwarding : new Map(), to.forwarding),
    senders: senderChange(from, to),
  };
  return isEmpty(result) ? undefined : result;
}

/** Compares the properties that cannot be changed on an existing link. */
function sameLink(a: VxlanLink, b: VxlanLink): boolean {
  return (
    a.local === b.local &&
    a.dev === b.dev &&
    a.mac === b.mac &&
    a.address === b.address &&
    a.address6 === b.address6
  );
}

function without(
  routes: ReadonlyMap<string, string>,
  drops: (route: string) => boolean,
): ReadonlyMap<string, string> {
  return new Map([...routes].filter(([, route]) => !drops(route)));
}

function mapChange(from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>): MapChange {
  return {
    removed: [...from.keys()].filter((key) => !to.has(key)).sort(),
    set: new Map(
      [...to].filter(([key, value]) => from.get(key) !== value).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

function senderChange(from: OverlayState, to: OverlayState): OverlayChange['senders'] {
  const wanted = to.senders ?? new Set<string>();
  const [before, after] = [from.vxlan && from.senders, to.vxlan && wanted];
  if (from.senders === undefined) return { whole: after };
  if (!before && !after) return undefined;
  if (!before || !after) return { whole: after };
  const added = [...after].filter((address) => !before.has(address)).sort();
  const removed = [...before].filter((address) => !after.has(address)).sort();
  return added.length + removed.length === 0 ? undefined : { added, removed };
}

function isEmpty({ removedLink, addedLink, mtu, routes, neighbours, forwarding, senders }: OverlayChange) {
  return (
    !removedLink &&
    !addedLink &&
    mtu === undefined &&
    !senders &&
    [routes, neighbours, forwarding].every(({ removed, set }) => removed.length === 0 && set.size === 0)
  );
}
