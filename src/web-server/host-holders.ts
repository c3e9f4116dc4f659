/**
 * Hosts that objects of several fronts have, such as an Ingress and an HTTPRoute. The earlier front serves
 * such a host, unless the object of the later front is older and of another namespace: an editor of one
 * namespace could otherwise take a host that another namespace serves. Pure.
 */

/** The oldest object that has a host. */
export interface Holder {
  readonly namespace: string;
  /** Creation time of the object, in RFC 3339. */
  readonly since: string;
}

interface Owned {
  readonly metadata: { readonly namespace?: string | undefined; readonly creationTimestamp: string };
}

/** Returns the namespace and time of the oldest object; undefined without objects. */
export function oldestHolder(objects: Iterable<Owned>): Holder | undefined {
  let oldest: Holder | undefined;
  for (const { metadata } of objects) {
    const { namespace = '', creationTimestamp: since } = metadata;
    if (!oldest || since < oldest.since) oldest = { namespace, since };
  }
  return oldest;
}

/** A site with its places, each a port and host as a text. */
export interface Placed<T> {
  readonly site: T;
  readonly places: readonly string[];
  /** Undefined for a site without objects that have a namespace. */
  readonly holder: Holder | undefined;
}

/** Returns the sites that leave a place to a later front; `fronts` are in the order of their precedence. */
export function yieldedSites<T>(fronts: readonly (readonly Placed<T>[])[]): ReadonlySet<T> {
  const byPlace = new Map<string, Placed<T>[]>();
  for (const placed of fronts.flat())
    for (const place of placed.places) byPlace.getOrInsertComputed(place, () => []).push(placed);
  return new Set([...byPlace.values()].flatMap(losersOf).map(({ site }) => site));
}

/** Returns the sites before the last one to which all sites before it yield. */
function losersOf<T>(rivals: readonly Placed<T>[]): readonly Placed<T>[] {
  const winner = rivals.findLastIndex((one, at) =>
    rivals.slice(0, at).every((earlier) => yieldsTo(earlier, one)),
  );
  return rivals.slice(0, winner);
}

const yieldsTo = <T>({ holder: own }: Placed<T>, { holder: other }: Placed<T>): boolean =>
  own !== undefined && other !== undefined && own.namespace !== other.namespace && other.since < own.since;
