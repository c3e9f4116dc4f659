/** The best results of a search among any number of objects. Pure. */
import { matchesQuery, type Query, type Term } from './query.ts';
import type { SearchItem } from './search-item.ts';

export interface Found {
  readonly item: SearchItem;
  /** The text besides the name in which the search was found, such as `image registry/web:1`. */
  readonly why: string;
}

export interface Results {
  readonly best: readonly Found[];
  /** Number of all objects that match. */
  readonly total: number;
}

/** Objects that people look for more often come first among equally good ones. */
const kindWeights: Readonly<Record<string, number>> = {
  'deployments.apps': 9,
  'statefulsets.apps': 8,
  'daemonsets.apps': 8,
  services: 7,
  pods: 6,
  nodes: 6,
  'jobs.batch': 5,
  events: -20,
  'replicasets.apps': -5,
};

/** Returns at most `limit` results, the best first. A query without terms finds nothing. */
export function rank(items: readonly SearchItem[], query: Query, limit: number): Results {
  if (query.terms.length === 0) return { best: [], total: 0 };
  const words = query.terms
    .filter(({ field, isNegated }) => field === '' && !isNegated)
    .map(({ value }) => value);
  const scored: { readonly item: SearchItem; readonly score: number }[] = [];
  for (const item of items) if (matchesQuery(item, query)) scored.push({ item, score: scoreOf(item, words) });
  scored.sort((a, b) => b.score - a.score || (a.item.name < b.item.name ? -1 : 1));
  return {
    total: scored.length,
    best: scored.slice(0, limit).map(({ item }) => ({ item, why: whyFound(item, query) })),
  };
}

function scoreOf(item: SearchItem, words: readonly string[]): number {
  const byName = words.reduce((sum, word) => sum + nameScore(item.name, word), 0);
  const byKind = Object.hasOwn(kindWeights, item.kind.key) ? (kindWeights[item.kind.key] ?? 0) : 0;
  // The shortest of similar names is most likely meant, and objects with problems are searched more often.
  return byName + byKind + (item.health === 'bad' ? 3 : 0) - Math.min(item.name.length, 60) / 20;
}

function nameScore(name: string, word: string): number {
  if (name === word) return 100;
  const at = name.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 80;
  return /[-./]/.test(name[at - 1] ?? '') ? 60 : 45;
}

/** Fields that show why an object was found if its name does not. */
const explaining = ['image', 'ip', 'host', 'node', 'status', 'message'];

/** Fields that the line of a result shows in any case. */
const obvious = new Set(['kind', 'is', 'ns', 'namespace', 'name']);

/** Returns the text in which the first term was found that the name does not contain; '' for none. */
function whyFound(item: SearchItem, { terms }: Query): string {
  const unseen = terms.filter(
    ({ field, value, isNegated }) => !isNegated && !obvious.has(field) && !item.name.includes(value),
  );
  return unseen.map((term) => placeOf(item, term)).find((text) => text !== '') ?? '';
}

function placeOf(item: SearchItem, { field, value }: Term): string {
  for (const name of field === '' ? explaining : [field]) {
    const found = item.valuesOf(name)?.find((each) => each.includes(value));
    if (found !== undefined) return `${name} ${excerpt(found, value)}`;
  }
  const label = item.labels.find((each) => each.includes(value));
  return label === undefined ? '' : `label ${label}`;
}

const maxExcerpt = 90;

function excerpt(text: string, value: string): string {
  if (text.length <= maxExcerpt) return text;
  const from = Math.max(0, text.indexOf(value) - 30);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + maxExcerpt)}…`;
}
