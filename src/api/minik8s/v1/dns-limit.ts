/**
 * How many paths of Dns objects one namespace may have. Each node's web server has one configuration for all
 * namespaces, and takes some 15 kB and 0.4 ms for a path (measured with nginx 1.22), so without a limit one
 * namespace could end the service of all. Pure.
 */
import type { Dns } from './dns.ts';
import { byAge } from './dns-holder.ts';

export const maxPathsOfNamespace = 1000;

export const pathCount = (dnses: readonly Dns[]): number =>
  dnses.reduce((count, { spec }) => count + spec.paths.length, 0);

/** Returns those of `dnses`, all of one namespace, that are served: the oldest, up to the limit. */
export function withinLimit(dnses: readonly Dns[]): readonly Dns[] {
  if (pathCount(dnses) <= maxPathsOfNamespace) return dnses;
  let count = 0;
  return dnses.toSorted(byAge).filter(({ spec }) => {
    count += spec.paths.length;
    return count <= maxPathsOfNamespace;
  });
}
