/** Finds the sites that a web server rejects by testing halves: one faulty site must not stop all others. */
import type { Site } from './site.ts';

/** Resolves to the largest part of the sites, in order, whose halves are all accepted. */
export async function withoutRefused(
  sites: readonly Site[],
  isAccepted: (sites: readonly Site[]) => Promise<boolean>,
): Promise<readonly Site[]> {
  if (sites.length === 0 || (await isAccepted(sites))) return sites;
  if (sites.length === 1) return [];
  const middle = Math.ceil(sites.length / 2);
  const first = await withoutRefused(sites.slice(0, middle), isAccepted);
  const second = await withoutRefused(sites.slice(middle), isAccepted);
  return [...first, ...second];
}
