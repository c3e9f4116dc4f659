/** The health of an object as its row in the server's table shows it. Pure. */
import { BoundedMap } from '../../../../base/bounded-map.ts';
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

/** Columns with a word for the state of an object; the first one of them is read. */
const statusColumns = ['status', 'phase', 'state'];

/** Columns of counts, such as `1/3`. */
const countColumns = ['ready', 'completions'];

/**
 * Returns a function from the cells of a row to its health by the columns Status, Phase or State, or by Ready
 * or Completions. The function returns undefined if the table shows none of them.
 */
export function healthReader(
  columns: readonly TableColumn[],
): (cells: readonly unknown[]) => Health | undefined {
  const firstOf = (names: readonly string[]) =>
    names
      .map((name) => columns.findIndex((column) => column.name.toLowerCase() === name))
      .find((at) => at >= 0);
  const [stateAt, countAt] = [firstOf(statusColumns), firstOf(countColumns)];
  const cell = (cells: readonly unknown[], at: number | undefined) =>
    at === undefined ? undefined : String(cells[at] ?? '');
  return (cells) => healthOfCells(cell(cells, stateAt), cell(cells, countAt));
}

export const healthOf = (columns: readonly TableColumn[], cells: readonly unknown[]): Health | undefined =>
  healthReader(columns)(cells);

function healthOfCells(state: string | undefined, count: string | undefined): Health | undefined {
  const byWord = state === undefined ? undefined : healthOfWord(state);
  if (byWord !== undefined && byWord !== 'good') return byWord;
  if (state !== undefined && /^(completed?|succeeded)$/i.test(state)) return 'good';
  return (count === undefined ? undefined : healthOfCount(count)) ?? byWord;
}

/** Words of states and their health; many objects of a cluster have the same few words. */
const knownWords = new BoundedMap<{ readonly health: Health | undefined }>(500);

/** Returns the health that a word of a status means; undefined for words without such a meaning. */
export function healthOfWord(word: string): Health | undefined {
  const known = knownWords.get(word);
  if (known) return known.health;
  const health = healthOfNewWord(word.toLowerCase());
  knownWords.set(word, { health });
  return health;
}

function healthOfNewWord(word: string): Health | undefined {
  if (goodWords.has(word)) return 'good';
  if (waitingWords.has(word) || word.startsWith('init:') || word.startsWith('ready,')) {
    return badWord.test(word.replace(/^ready,/, '')) ? 'bad' : 'waiting';
  }
  return badWord.test(word) ? 'bad' : undefined;
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
