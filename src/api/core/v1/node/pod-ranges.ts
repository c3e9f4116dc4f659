import type { Node } from '../types.gen.ts';

/**
 * Returns the ranges of a node's pods with commas between them (`familyRanges`); undefined while it has none.
 */
export function podRangesOf({ spec }: Node): string | undefined {
  const { podCIDR, podCIDRs } = spec ?? {};
  return (podCIDRs?.length ? podCIDRs.join(',') : podCIDR) || undefined;
}
