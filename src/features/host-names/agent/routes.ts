/**
 * The routes that a node serves for the existing Dns objects: from objects to hosts with their paths. Pure.
 */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Dns } from '../api/dns.ts';
import { byAge, hostHolder } from '../api/dns-holder.ts';
import { withinLimit } from '../api/dns-limit.ts';
import { dnsTarget } from '../api/dns-target.ts';

export interface HostRoutes {
  readonly host: string;
  /** Sorted, the longest path first. */
  readonly paths: readonly PathRoute[];
}

type ServiceFinder = (namespace: string, name: string) => Service | undefined;

export interface PathRoute {
  /** Path without a slash at its end, except `/` itself. */
  readonly path: string;
  /** Address such as `10.96.0.20:80`; undefined if there is no target. */
  readonly upstream: string | undefined;
}

/**
 * Returns the routes, sorted so that the same objects always give the same value. A host is served for one
 * namespace; if two objects of that namespace have the same path, the older one wins. If a namespace has more
 * paths than the limit, its oldest objects are served.
 */
export function routesOf(dnses: readonly Dns[], serviceOf: ServiceFinder): readonly HostRoutes[] {
  const hosts = new Map<string, PathRoute[]>();
  const byNamespace = Map.groupBy(dnses, ({ metadata }) => metadata.namespace);
  const within = new Set([...byNamespace.values()].flatMap(withinLimit));
  for (const [host, all] of Map.groupBy(dnses, ({ spec }) => spec.host)) {
    const holder = hostHolder(all);
    const held = all.filter((dns) => dns.metadata.namespace === holder && within.has(dns));
    if (held.length > 0) hosts.set(host, pathsOf(held, serviceOf));
  }
  return [...hosts].map(([host, paths]) => ({ host, paths })).sort((a, b) => compare(a.host, b.host));
}

function pathsOf(dnses: readonly Dns[], serviceOf: ServiceFinder): PathRoute[] {
  const paths = new Map<string, PathRoute>();
  for (const { metadata, spec } of dnses.toSorted(byAge)) {
    for (const entry of spec.paths) {
      if (paths.has(entry.path)) continue;
      const target = dnsTarget(entry, serviceOf(metadata.namespace ?? '', entry.serviceName));
      const upstream = 'reason' in target ? undefined : `${target.address}:${target.port}`;
      paths.set(entry.path, { path: entry.path, upstream });
    }
  }
  return [...paths.values()].sort(longestFirst);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const longestFirst = (a: PathRoute, b: PathRoute) => b.path.length - a.path.length || compare(a.path, b.path);
