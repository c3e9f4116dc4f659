/**
 * Maximum number of Dns paths in a namespace. Each node's web server has one configuration for all
 * namespaces, and needs about 15 kB and 0.4 ms for a path (measured with nginx 1.22), so that without a limit
 * one namespace could stop the service for all. Pure.
 */
import type { Dns } from './dns.ts';
import { byAge } from './dns-holder.ts';

export const maxPathsOfNamespace = 1000;

export const pathCount = (dnses: readonly Dns[]): number =>
  dnses.reduce((count, { spec }) => count + spec.paths.length, 0);

/** Returns the objects that are served, of `dnses` in one namespace: the oldest, up to the limit. */
export function withinLimit(dnses: readonly Dns[]): readonly Dns[] {
  if (pathCount(dnses) <= maxPathsOfNamespace) return dnses;
  let count = 0;
  return dnses.toSorted(byAge).filter(({ spec }) => {
    count += spec.paths.length;
    return count <= maxPathsOfNamespace;
  });
}
