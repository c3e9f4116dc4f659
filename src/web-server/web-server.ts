/**
 * Keeps the node's web server serving the sites of its fronts. A front turns one kind of object into sites;
 * all fronts share one server, because only one can listen on a port. The server runs only while a front has
 * something to serve.
 */
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { keepDoing, type Wake } from '../base/keep-doing.ts';
import { type Holder, type Placed, yieldedSites } from './host-holders.ts';
import type { Nginx, Served } from './nginx.ts';
import type { Site } from './site.ts';

export interface FrontPlan extends HeldSites {
  /** False if no object of this front exists. */
  readonly isNeeded: boolean;
}

/** Content of a front, with the owners of its hosts. */
export interface HeldSites extends Served {
  /** Returns the oldest object that has the host of a site; undefined without one. */
  readonly holderOf?: (site: Site) => Holder | undefined;
}

export interface Front {
  plan(): Promise<FrontPlan>;
  /** Called after every round that succeeded, even if nothing has changed. */
  served(isNeeded: boolean, result: FrontResult): void;
  /** Called after every round that failed. */
  failed(error: unknown): void;
}

export interface FrontResult {
  readonly httpsProblem?: string;
  /** Hosts of any front whose routes nginx rejects. */
  readonly refused: readonly string[];
  /** One sentence for each other port that is not served. */
  readonly portProblems: readonly string[];
  /** Hosts of this front that another front serves. */
  readonly taken: readonly string[];
}

/** The ports of sites without `listen`. */
export interface Ports {
  readonly http: number;
  readonly https: number | undefined;
}

export interface WebServerOptions {
  readonly clock: Clock;
  readonly nginx: Pick<Nginx, 'serve' | 'remove'>;
  readonly ports: Ports;
  /** Called by the fronts after a change. */
  readonly wake: Wake;
  /** In the order of their precedence (host-holders.ts). */
  readonly fronts: readonly Front[];
}

/** Interval of checks: no event reports that another program has removed the container. */
const lookAgainMs = 60_000;
const retry = { initialMs: 500, maxMs: 30_000 };

/**
 * Runs until the signal aborts; the web server keeps running. Call it when the fronts' informers have synced.
 */
export async function runWebServer(options: WebServerOptions, signal: AbortSignal): Promise<void> {
  const { clock, wake, nginx, fronts, ports } = options;
  const onError = (error: unknown) => {
    for (const front of fronts) front.failed(error);
  };
  const turns = { wake, restMs: lookAgainMs, backoff: new Backoff(retry), wakesRetry: true, onError };
  await keepDoing({ clock, signal, ...turns }, async () => {
    const plans = await Promise.all(fronts.map((front) => front.plan()));
    const isNeeded = plans.some((plan) => plan.isNeeded);
    if (!isNeeded) await nginx.remove();
    const all = together(plans, ports);
    const result = isNeeded ? await nginx.serve(all.served) : { refused: [], portProblems: [] };
    for (const [index, front] of fronts.entries())
      front.served(plans[index]?.isNeeded ?? false, { ...result, taken: all.taken[index] ?? [] });
  });
}

/** Returns what all fronts serve together, and for each front the hosts that another front serves. */
export function together(
  plans: readonly HeldSites[],
  ports: Ports,
): { readonly served: Served; readonly taken: readonly (readonly string[])[] } {
  const fronts = plans.map(({ sites: all, holderOf }) =>
    all.map((site): Placed<Site> => ({ site, places: placesOf(site, ports), holder: holderOf?.(site) })),
  );
  const yielded = yieldedSites(fronts);
  const owners = new Set<string>();
  const sites: Site[] = [];
  const taken = fronts.map((front) => {
    const isFree = ({ site, places }: Placed<Site>) =>
      !yielded.has(site) && !places.some((place) => owners.has(place));
    const free = front.filter(isFree);
    const others = front.filter((placed) => !free.includes(placed));
    sites.push(...free.map(({ site }) => site));
    // Sites of one front never share a place.
    for (const { places } of free) for (const place of places) owners.add(place);
    return others.map(({ site }) => site.host);
  });
  return {
    served: {
      sites: sites.toSorted(
        (a, b) => compare(a.host, b.host) || (a.listen?.port ?? 0) - (b.listen?.port ?? 0),
      ),
      certificates: new Map(plans.flatMap(({ certificates }) => [...certificates])),
      wantsTls: plans.some(({ wantsTls }) => wantsTls),
    },
    taken,
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the ports of a site with its host, each as a text. */
const placesOf = ({ host, listen }: Site, { http, https }: Ports): readonly string[] =>
  (listen ? [listen.port] : https === undefined ? [http] : [http, https]).map((port) => `${port} ${host}`);
