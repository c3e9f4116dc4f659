/** Mutants without an effect: no test can detect them. Each has its reason. */
import type { Mutant } from './mutants.ts';

export interface Equivalent {
  readonly file: string;
  /** Line of the source where the change begins, trimmed. */
  readonly line: string;
  /** Change as a run prints it. */
  readonly change: string;
  readonly because: string;
}

/**
 * Returns the mutants of a file that match an entry, and the stale entries, which match no mutant since the
 * source has changed.
 */
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
