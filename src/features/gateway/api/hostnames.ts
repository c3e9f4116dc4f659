/** Host names of listeners and routes: `a.example`, `*.example` for one or more labels, '' for all. Pure. */

/** Returns true if every host that `inner` stands for is one of `outer`. */
export function covers(outer: string, inner: string): boolean {
  if (outer === '' || outer === inner) return true;
  // The inner name may have a star itself: `*.a.example` is part of `*.example`.
  return outer.startsWith('*.') && inner !== '' && inner.endsWith(outer.slice(1));
}

/** Returns the name for the hosts that both names cover; undefined if there are none. */
export function intersection(a: string, b: string): string | undefined {
  if (covers(a, b)) return b;
  return covers(b, a) ? a : undefined;
}

/** Compares by precedence: exact names, then names with a star, the longest first, then every host. */
export function bySpecificity(a: string, b: string): number {
  const exact = Number(isWild(a)) - Number(isWild(b));
  return exact || b.length - a.length || (a < b ? -1 : a > b ? 1 : 0);
}

const isWild = (host: string) => host === '' || host.startsWith('*.');

/** Returns the names that cover the host, the most specific first. */
export function coveringNames(host: string): readonly string[] {
  if (host === '') return [''];
  const labels = host.split('.');
  const above = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  return [...new Set([host, ...above, ''])];
}

/** Returns true for a name that listeners and routes may have. */
export const isHostname = (name: string): boolean =>
  name.length <= 253 && /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i.test(name);
