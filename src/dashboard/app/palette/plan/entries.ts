/**
 * The entries of the command palette for a text: objects, actions on them, kinds, pages and commands. Pure.
 */
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import { parseQuery, type Query } from '../../search/plan/query.ts';
import { type Found, rank } from '../../search/plan/ranking.ts';
import type { SearchItem } from '../../search/plan/search-item.ts';

export interface Named {
  readonly title: string;
  readonly words?: string | undefined;
}

export type Entry<A extends Named, C extends Named> =
  | { readonly type: 'object'; readonly id: string; readonly found: Found }
  | { readonly type: 'action'; readonly id: string; readonly action: A; readonly item: SearchItem }
  | { readonly type: 'kind'; readonly id: string; readonly kind: ApiKind }
  | { readonly type: 'command'; readonly id: string; readonly command: C }
  /** Leads to the table of a kind with the same search. */
  | {
      readonly type: 'all';
      readonly id: string;
      readonly kind: ApiKind;
      readonly filter: string;
      readonly total: number;
    };

export interface Sources<A extends Named, C extends Named> {
  readonly items: readonly SearchItem[];
  readonly kinds: readonly ApiKind[];
  /** Pages and other commands. */
  readonly commands: readonly C[];
  actionsOn(item: SearchItem): readonly A[];
}

const maxObjects = 30;
const maxOthers = 6;
/** Minimum number of letters of a word that finds an action by the beginning of its title. */
const minActionLetters = 3;

export function entriesFor<A extends Named, C extends Named>(
  text: string,
  sources: Sources<A, C>,
): readonly Entry<A, C>[] {
  const query = parseQuery(text);
  if (query.terms.length === 0) return sources.commands.slice(0, maxObjects).map(commandEntry<A, C>);
  const words = query.terms.filter(({ field }) => field === '').map(({ value }) => value);
  const isPlain = words.length === query.terms.length;
  const results = rank(sources.items, query, maxObjects);
  const named = (list: readonly C[]) => (isPlain ? list.filter((each) => hasWords(each, words)) : []);
  const kinds = isPlain ? sources.kinds.filter((kind) => isKind(kind, words)) : [];
  return [
    ...kinds.slice(0, maxOthers).map((kind) => ({ type: 'kind', id: `kind ${kind.key}`, kind }) as const),
    ...named(sources.commands)
      .slice(0, maxOthers)
      .map(commandEntry<A, C>),
    ...actionEntries<A, C>(query, sources),
    ...allEntry<A, C>(text, query, results.total, sources.kinds),
    ...results.best.map(objectEntry<A, C>),
  ];
}

const commandEntry = <A extends Named, C extends Named>(command: C): Entry<A, C> => ({
  type: 'command',
  id: `command ${command.title}`,
  command,
});

const objectEntry = <A extends Named, C extends Named>(found: Found): Entry<A, C> => ({
  type: 'object',
  id: `object ${found.item.kind.key} ${found.item.object.metadata.uid}`,
  found,
});

const hasWords = ({ title, words = '' }: Named, wanted: readonly string[]): boolean => {
  const text = `${title} ${words}`.toLowerCase();
  return wanted.every((word) => text.includes(word));
};

/** Returns whether the only word is a short name of a kind or begins one of its other names. */
function isKind({ kind, plural, shortNames, singular }: ApiKind, words: readonly string[]): boolean {
  const [word] = words;
  if (words.length !== 1 || word === undefined) return false;
  return (
    shortNames.includes(word) || [kind.toLowerCase(), plural, singular].some((name) => name.startsWith(word))
  );
}

/**
 * Returns `Delete web-1` for `delete web`: the title of the action begins with one of the words, and the
 * others find the object.
 */
function actionEntries<A extends Named, C extends Named>(
  query: Query,
  sources: Sources<A, C>,
): Entry<A, C>[] {
  for (const term of query.terms) {
    if (term.field !== '' || term.isNegated || term.value.length < minActionLetters) continue;
    const rest = { terms: query.terms.filter((other) => other !== term) };
    const entries = rank(sources.items, rest, maxOthers).best.flatMap(({ item }) =>
      sources
        .actionsOn(item)
        .filter((action) => startsWith(action, term.value))
        .map(
          (action) =>
            ({
              type: 'action',
              id: `action ${action.title} ${item.object.metadata.uid}`,
              action,
              item,
            }) as const,
        ),
    );
    if (entries.length > 0) return entries.slice(0, maxOthers);
  }
  return [];
}

const startsWith = ({ title, words = '' }: Named, word: string): boolean =>
  `${title} ${words}`
    .toLowerCase()
    .split(' ')
    .some((each) => each.startsWith(word));

/** Offers the table of the kind that a search names, with the rest of the search as its filter. */
function allEntry<A extends Named, C extends Named>(
  text: string,
  query: Query,
  total: number,
  kinds: readonly ApiKind[],
): Entry<A, C>[] {
  const named = query.terms.filter(({ field, isNegated }) => field === 'kind' && !isNegated);
  const [term] = named;
  if (named.length !== 1 || term === undefined || total === 0) return [];
  const kind = kinds.find(({ kind: name, plural, singular, shortNames }) =>
    [name.toLowerCase(), plural, singular, ...shortNames].includes(term.value),
  );
  if (!kind) return [];
  const filter = text
    .replace(/(^|\s)kind:\S+/i, ' ')
    .trim()
    .replaceAll(/\s+/g, ' ');
  return [{ type: 'all', id: `all ${kind.key}`, kind, filter, total }];
}
