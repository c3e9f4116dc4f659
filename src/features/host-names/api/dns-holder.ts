/**
 * The namespace that holds a host of Dns objects, which is the namespace of the oldest object for the host.
 * All pods resolve a host to the same web server, so a second namespace could otherwise serve paths of the
 * first one's host. Pure.
 */
import type { Dns } from './dns.ts';

/**
 * Returns the namespace that holds the host of `dnses`, which are all for the same host; undefined for an
 * empty list.
 */
export function hostHolder(dnses: readonly Dns[]): string | undefined {
  let oldest: Dns | undefined;
  for (const dns of dnses) if (!oldest || byAge(dns, oldest) < 0) oldest = dns;
  return oldest?.metadata.namespace;
}

/** Compares by creation time, then by uid, so that every node and master has the same order. */
export const byAge = ({ metadata: a }: Dns, { metadata: b }: Dns): number =>
  compare(a.creationTimestamp, b.creationTimestamp) || compare(a.uid, b.uid);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
