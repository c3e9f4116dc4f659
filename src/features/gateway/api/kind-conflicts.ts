/**
 * Routes of two kinds on one listener: an HTTPRoute and a GRPCRoute must not share a host name. Pure. The
 * older one has its hosts, and the younger one is not accepted.
 */
import { type Attachment, hostsOf } from './attachments.ts';
import { byAge } from './classes.ts';
import { coveringNames } from './hostnames.ts';
import { isGrpcRoute, type Route } from './kinds.ts';
import type { ListenerState } from './listeners.ts';

/** Host names of the accepted routes of one kind on one listener. */
class Hosts {
  readonly #names = new Set<string>();
  /** Names that stand for one of the hosts, the names themselves included. */
  readonly #above = new Set<string>();

  add(host: string): void {
    this.#names.add(host);
    for (const name of coveringNames(host)) this.#above.add(name);
  }

  /** Returns true if a request may have a host of both. */
  meets(host: string): boolean {
    return this.#above.has(host) || coveringNames(host).some((name) => this.#names.has(name));
  }
}

type HostsByKind = Readonly<Record<'http' | 'grpc', Hosts>>;

class Listeners {
  readonly #hosts = new Map<ListenerState, HostsByKind>();

  /** Returns true if the route shares no host with a route of the other kind; it then has its hosts. */
  admit({ route, listeners }: Attachment): boolean {
    const [own, other] = isGrpcRoute(route) ? (['grpc', 'http'] as const) : (['http', 'grpc'] as const);
    const places = listeners.flatMap((state) =>
      hostsOf(route, state.hostname).map((host) => ({ at: this.#at(state), host })),
    );
    if (places.some(({ at, host }) => at[other].meets(host))) return false;
    for (const { at, host } of places) at[own].add(host);
    return true;
  }

  #at(state: ListenerState): HostsByKind {
    const known = this.#hosts.get(state) ?? { http: new Hosts(), grpc: new Hosts() };
    this.#hosts.set(state, known);
    return known;
  }
}

/**
 * Returns the attachments, in their order, with a refusal where an older route of the other kind has a host.
 * Routes for which `isRefused` returns true have no hosts.
 */
export function withoutKindConflicts(
  attachments: readonly Attachment[],
  isRefused: (route: Route) => boolean,
): readonly Attachment[] {
  const listeners = new Listeners();
  const conflicts = new Set(
    attachments
      .filter(({ route, refused }) => !refused && !isRefused(route))
      .toSorted((a, b) => byAge(a.route, b.route))
      .filter((one) => !listeners.admit(one)),
  );
  return attachments.map((one) => (conflicts.has(one) ? refusedOf(one) : one));
}

const refusedOf = ({ route, parent }: Attachment): Attachment => ({
  ...{ route, parent },
  listeners: [],
  refused: {
    reason: 'HostnameConflict',
    message: `an older ${isGrpcRoute(route) ? 'HTTPRoute' : 'GRPCRoute'} has a host name of this route on the same listener; use another host name or listener`,
  },
});
