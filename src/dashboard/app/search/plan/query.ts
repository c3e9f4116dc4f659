/**
 * The language of searches and filters: words that must all be found, `field:value` for a field, and
 * `not:ready`, `not:word` or `-word` for what must not be. Quotes keep blanks: `message:"back-off"`. Pure.
 */
export interface Term {
  /** Lower case; empty for a word that may be anywhere. */
  readonly field: string;
  /** Lower case. */
  readonly value: string;
  readonly isNegated: boolean;
}

export interface Query {
  readonly terms: readonly Term[];
}

/** Words of a search: a field with a value in quotes or without, or a word. */
const word = /(-?)(?:([A-Za-z][\w.-]*):)?(?:"([^"]*)"?|(\S+))/g;
/** States that `is:` and `not:` name, instead of a word to be found. */
const states = new Set(['ready', 'good', 'bad', 'waiting']);

export function parseQuery(text: string): Query {
  const terms: Term[] = [];
  for (const [, minus, field = '', quoted, plain] of text.matchAll(word)) {
    const value = (quoted ?? plain ?? '').toLowerCase();
    if (value !== '') terms.push(termOf(field.toLowerCase(), value, minus === '-'));
  }
  return { terms };
}

function termOf(field: string, value: string, isNegated: boolean): Term {
  if (field === 'not') return { field: states.has(value) ? 'is' : '', value, isNegated: !isNegated };
  return { field, value, isNegated };
}

/** The texts and the health of an object by which searches find it. All texts are in lower case. */
export interface Searchable {
  /** All texts in which a word without a field is searched. */
  readonly text: string;
  /** Labels as `key=value`. */
  readonly labels: readonly string[];
  readonly health: 'good' | 'waiting' | 'bad' | undefined;
  /** Returns the values of a field such as `node`; undefined if objects of this kind have no such field. */
  valuesOf(field: string): readonly string[] | undefined;
}

export const matchesQuery = (item: Searchable, { terms }: Query): boolean =>
  terms.every((term) =>
    // An object without health is neither ready nor not ready.
    term.field === 'is' && item.health === undefined ? false : holds(item, term) !== term.isNegated,
  );

function holds(item: Searchable, { field, value }: Term): boolean {
  if (field === '') return item.text.includes(value);
  if (field === 'is') return hasState(item.health, value);
  if (field === 'label') return item.labels.some((label) => label.includes(value));
  const values = item.valuesOf(field);
  if (values) return values.some((each) => fits(field, each, value));
  // A field that no object has is a label: `app:web`.
  return item.labels.some(
    (label) => label.startsWith(`${field}=`) && label.slice(field.length + 1).includes(value),
  );
}

/** Returns whether an object is in a state; `ready` is `good`. */
function hasState(health: Searchable['health'], state: string): boolean {
  return health === (state === 'ready' ? 'good' : state);
}

/** Fields whose values have to begin with the text of a search. */
const namedFields = new Set(['node', 'namespace', 'ns']);

function fits(field: string, text: string, value: string): boolean {
  if (field === 'kind') return text === value;
  if (!namedFields.has(field)) return text.includes(value);
  // `vm1` is the beginning of `vm1-a`, but not of `vm10`.
  return text.startsWith(value) && !(/\d$/.test(value) && /^\d/.test(text.slice(value.length)));
}
