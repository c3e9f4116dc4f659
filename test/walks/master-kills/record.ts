/** The finished clusters of a walk, and their sums. Pure. */
import type { SliceResult } from './slice.ts';

/** Returns the number of kills of a cluster. */
export const killsOf = ({ kills }: Pick<SliceResult, 'kills'>): number =>
  Object.values(kills).reduce((sum, count) => sum + count, 0);

/** Returns the clusters of a record that are part of a walk with this seed. */
export function recorded(text: string, seed: number, masters: number): readonly SliceResult[] {
  const all = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SliceResult & { readonly walk: number });
  return all.filter((one) => one.walk === seed && one.masters === masters);
}

/** Returns the sums of all clusters. */
export function summary(all: readonly SliceResult[]) {
  const sum = (of: (one: SliceResult) => number) => all.reduce((total, one) => total + of(one), 0);
  const byKind: Record<string, number> = {};
  for (const { kills } of all)
    for (const [kind, count] of Object.entries(kills)) byKind[kind] = (byKind[kind] ?? 0) + count;
  return {
    ...{ clusters: all.length, kills: sum(killsOf), byKind },
    ...{ acknowledged: sum((one) => one.acknowledged), unknown: sum((one) => one.unknown) },
    ...{ refused: sum((one) => one.refused), reads: sum((one) => one.reads) },
    ...{ events: sum((one) => one.events), watches: sum((one) => one.watches) },
    longestGapMs: Math.max(0, ...all.map((one) => one.longestGapMs)),
    ...{ seconds: sum((one) => one.seconds), faults: all.flatMap(({ faults }) => faults) },
  };
}
