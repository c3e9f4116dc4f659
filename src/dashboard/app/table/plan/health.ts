/** The health of an object as its row in the server's table shows it. Pure. */
import type { TableColumn } from '../../cluster/plan/table-rows.ts';

/** `waiting` is on its way to `good`; `bad` requires attention. */
export type Health = 'good' | 'waiting' | 'bad';

const goodWords = new Set(
  'running ready active bound completed complete succeeded available established true approved,issued issued healthy online'.split(
    ' ',
  ),
);
const waitingWords = new Set(
  'pending containercreating podinitializing terminating creating released suspended progressing queued starting scheduled building'.split(
    ' ',
  ),
);
const badWord =
  /error|fail|backoff|err|invalid|lost|evicted|notready|unknown|denied|oomkilled|false|degraded|deadline/i;

const fraction = /^(\d+)\/(\d+)/;

/** Columns whose words say how an object is, in the order in which they are read. */
const statusColumns = ['status', 'phase', 'state'];

/**
 * Returns the health of a row by its columns Status, Phase or State, or by Ready or Completions; undefined if
 * the table shows none of them.
 */
export function healthOf(columns: readonly TableColumn[], cells: readonly unknown[]): Health | undefined {
  const cell = (name: string) => {
    const index = columns.findIndex((column) => column.name.toLowerCase() === name);
    return index < 0 ? undefined : String(cells[index] ?? '');
  };
  const word = statusColumns.map(cell).find((value) => value !== undefined);
  const byWord = word === undefined ? undefined : healthOfWord(word);
  if (byWord !== undefined && byWord !== 'good') return byWord;
  if (word !== undefined && /^(completed?|succeeded)$/i.test(word)) return 'good';
  const ready = cell('ready') ?? cell('completions');
  return (ready === undefined ? undefined : healthOfCount(ready)) ?? byWord;
}

/** Returns the health that a word of a status means; undefined for words that say nothing about it. */
export function healthOfWord(word: string): Health | undefined {
  const lower = word.toLowerCase();
  if (goodWords.has(lower)) return 'good';
  if (waitingWords.has(lower) || lower.startsWith('init:') || lower.startsWith('ready,')) {
    return badWord.test(lower.replace(/^ready,/, '')) ? 'bad' : 'waiting';
  }
  return badWord.test(lower) ? 'bad' : undefined;
}

/** Reads `1/3`, or `True` and `False`. */
function healthOfCount(text: string): Health | undefined {
  const [, have, want] = fraction.exec(text) ?? [];
  if (have === undefined || want === undefined) return healthOfWord(text);
  return Number(have) >= Number(want) ? 'good' : 'waiting';
}

/** Counts rows by their health. */
export function countHealth(
  rows: readonly { readonly health: Health | undefined }[],
): Readonly<Record<Health, number>> {
  const counts = { good: 0, waiting: 0, bad: 0 };
  for (const { health } of rows) if (health) counts[health]++;
  return counts;
}
