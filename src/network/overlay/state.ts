/** What the overlay is to this machine's kernel, and the way from one such state to another. Data to data. */

/** The link that carries pods' packets to other nodes inside UDP (RFC 7348). */
export interface VxlanLink {
  /** This node's address, and the link that has it. */
  readonly local: string;
  readonly dev: string;
  readonly mac: string;
  readonly mtu: number;
  /** What pods of other nodes see of this node: the first address of its pods' range. */
  readonly address: string;
}

/** Each map is from what the kernel tells entries apart by to what it does with them. */
export interface OverlayState {
  readonly vxlan: VxlanLink | undefined;
  /** Network → `unreachable`, or `via ADDRESS dev LINK` with `onlink` where ip(8) wants that. */
  readonly routes: ReadonlyMap<string, string>;
  /** Address on the overlay → MAC. */
  readonly neighbours: ReadonlyMap<string, string>;
  /** MAC → the address of the node behind which it is. */
  readonly forwarding: ReadonlyMap<string, string>;
  /** The addresses that VXLAN packets are accepted from, as long as there is a link; undefined: not known. */
  readonly senders: ReadonlySet<string> | undefined;
}

export interface MapChange {
  readonly removed: readonly string[];
  /** What is new or has another value. */
  readonly set: ReadonlyMap<string, string>;
}

export interface OverlayChange {
  /** The link as it was, when it has to go; what leads over it goes with it. */
  readonly removedLink: VxlanLink | undefined;
  readonly addedLink: VxlanLink | undefined;
  /** Set on a link that stays. */
  readonly mtu: number | undefined;
  readonly routes: MapChange;
  readonly neighbours: MapChange;
  readonly forwarding: MapChange;
  /** `whole` replaces what there is, undefined removes it; undefined when nothing changes. */
  readonly senders:
    | { readonly whole: ReadonlySet<string> | undefined }
    | { readonly added: readonly string[]; readonly removed: readonly string[] }
    | undefined;
}

/** Undefined when there is nothing to do. `overLink` says which routes the kernel drops with the link. */
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

/** All that cannot be changed while the link stands. */
function sameLink(a: VxlanLink, b: VxlanLink): boolean {
  return a.local === b.local && a.dev === b.dev && a.mac === b.mac && a.address === b.address;
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
