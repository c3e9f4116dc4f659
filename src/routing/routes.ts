/** What a node serves for the Dns objects there are: from objects to hosts with their paths. Pure. */
import type { Service } from '../api/core/v1/service.ts';
import type { Dns } from '../api/minik8s/v1/dns.ts';
import { dnsTarget } from '../api/minik8s/v1/dns-target.ts';

export interface HostRoutes {
  readonly host: string;
  /** The longest first. */
  readonly paths: readonly PathRoute[];
}

export interface PathRoute {
  /** Without a slash at its end, but for `/` itself. */
  readonly path: string;
  /** Such as `10.96.0.20:80`; undefined: there is nobody to ask. */
  readonly upstream: string | undefined;
}

/** Sorted, so that the same objects always give the same value. Of two objects with one path the older one has it. */
export function routesOf(
  dnses: readonly Dns[],
  serviceOf: (namespace: string, name: string) => Service | undefined,
): readonly HostRoutes[] {
  const hosts = new Map<string, Map<string, PathRoute>>();
  for (const { metadata, spec } of dnses.toSorted(byAge)) {
    const paths = hosts.get(spec.host) ?? new Map<string, PathRoute>();
    hosts.set(spec.host, paths);
    for (const entry of spec.paths) {
      if (paths.has(entry.path)) continue;
      const target = dnsTarget(entry, serviceOf(metadata.namespace ?? '', entry.serviceName));
      const upstream = 'reason' in target ? undefined : `${target.address}:${target.port}`;
      paths.set(entry.path, { path: entry.path, upstream });
    }
  }
  return [...hosts]
    .map(([host, paths]) => ({ host, paths: [...paths.values()].sort(longestFirst) }))
    .sort((a, b) => compare(a.host, b.host));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const byAge = ({ metadata: a }: Dns, { metadata: b }: Dns) =>
  compare(a.creationTimestamp, b.creationTimestamp) || compare(a.uid, b.uid);

const longestFirst = (a: PathRoute, b: PathRoute) => b.path.length - a.path.length || compare(a.path, b.path);
