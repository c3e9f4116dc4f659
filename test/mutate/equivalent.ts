/** Changes that change nothing: no test can notice them. Each with its reason. */
import type { Mutant } from './mutants.ts';

export interface Equivalent {
  readonly file: string;
  /** The line of the source where the change begins, trimmed. */
  readonly line: string;
  /** As a run prints it. */
  readonly change: string;
  readonly because: string;
}

/** Those of a file: which of its mutants they are, and which of them are of none, since the source has changed. */
export function matchEquivalents(
  file: string,
  source: string,
  mutants: readonly Mutant[],
  list: readonly Equivalent[],
): { readonly matched: ReadonlySet<Mutant>; readonly stale: readonly Equivalent[] } {
  const lines = source.split('\n');
  const matched = new Set<Mutant>();
  const stale = list.filter((entry) => {
    if (entry.file !== file) return false;
    const found = mutants.filter(
      ({ line, change }) => change === entry.change && lines[line - 1]?.trim() === entry.line,
    );
    for (const mutant of found) matched.add(mutant);
    return found.length === 0;
  });
  return { matched, stale };
}
