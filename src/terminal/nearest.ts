/** Suggestions for a mistyped word: "did you mean". */

/** Maximum number of edits: two edits turn almost any short word into another (`logs` into `bogus`). */
const maxEdits = (word: string) => (word.length <= 5 ? 1 : 2);

/** Returns the known words most similar to this one: at most three, none when no word is similar enough. */
export function nearest(word: string, known: Iterable<string>): string[] {
  const wanted = word.toLowerCase();
  // A longer word is not similar to any known word, and the comparison would take long.
  if (wanted.length > 80) return [];
  const all = [...new Set(known)]
    .map((candidate) => ({ candidate, edits: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= maxEdits(wanted) && edits < candidate.length);
  const least = Math.min(...all.map(({ edits }) => edits));
  return all
    .filter(({ edits }) => edits === least)
    .map(({ candidate }) => candidate)
    .sort()
    .slice(0, 3);
}

/** Returns ` Did you mean x or y?`, with the leading space; '' when no word is similar. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const found = nearest(word, known);
  return found.length === 0 ? '' : ` Did you mean ${found.join(' or ')}?`;
}

/**
 * Returns the Damerau-Levenshtein distance: insertions, deletions, replacements and exchanges of two
 * neighbors.
 */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const exchanged = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(row, j - 1) + 1,
        at(rows[i - 1], j) + 1,
        at(rows[i - 1], j - 1) + (same ? 0 : 1),
        exchanged ? at(rows[i - 2], j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(row);
  }
  return at(rows[a.length], b.length);
}

const at = (row: readonly number[] | undefined, index: number) => row?.[index] ?? Number.POSITIVE_INFINITY;
