/**
 * The namespace that a host of Dns objects belongs to: the one whose object for the host is the oldest. All
 * pods resolve a host to the same web server, so a second namespace could otherwise answer for paths of the
 * first one's host. Pure.
 */
import type { Dns } from './dns.ts';

/**
 * Returns the namespace that has the host which all of `dnses` are for; undefined where there is no object.
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
