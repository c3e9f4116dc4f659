/**
 * Label selectors in both of their forms: the text of `?labelSelector=` and the object with matchLabels and
 * matchExpressions. Grammar and meaning follow k8s.io/apimachinery labels.
 */
import { parseInt64 } from './int64.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';
import type { LabelSelector } from './schema.ts';
import { checkSelectorLength, checkSelectorTerms } from './selector-length.ts';
import { newBadRequest } from './status-error.ts';

export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** One value for `=`, `!=`, `gt`, `lt`; one or more for the sets; none for the existence tests. */
  readonly values: readonly string[];
}

export interface Selector {
  /** All requirements must hold; an empty list matches everything. */
  readonly requirements: readonly LabelRequirement[];
  /** Matches no object: the selector of an object that has no selector. */
  readonly nothing?: true;
}

export const everything: Selector = { requirements: [] };
export const nothing: Selector = { requirements: [], nothing: true };

export type Labels = Readonly<Record<string, string>>;

/** Parses a text such as `app=web,tier in (a,b),!canary`; throws a BadRequest StatusError. */
export function parseLabelSelector(text: string): Selector {
  checkSelectorLength('label', text);
  const tokens = tokenize(text);
  checkSelectorTerms('label', countOfTerms(tokens));
  const requirements: LabelRequirement[] = [];
  let at = 0;
  while (at < tokens.length) {
    const end = endOfRequirement(tokens, at);
    requirements.push(checked(parseRequirement(tokens.slice(at, end), text), text));
    if (end === tokens.length - 1) throw refused(text, "found '' after ',', expected: identifier");
    at = end + 1;
  }
  return { requirements };
}

const read = new WeakMap<LabelSelector, Selector>();

/**
 * Converts the object form. An absent selector matches nothing, an empty one everything. The result is kept
 * for a frozen selector, as all objects of a cache are: one selector of a cached object is compared with
 * thousands of objects.
 */
export function selectorFromLabelSelector(selector: LabelSelector | undefined): Selector {
  if (selector === undefined) return nothing;
  const known = read.get(selector) ?? readSelector(selector);
  if (Object.isFrozen(selector)) read.set(selector, known);
  return known;
}

function readSelector(selector: LabelSelector): Selector {
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }));
  for (const { key, operator, values = [] } of selector.matchExpressions ?? [])
    requirements.push({ key, operator: expressionOperators[operator], values: [...values] });
  return { requirements };
}

const readMaps = new WeakMap<Labels, Selector>();

/**
 * Returns the selector of a plain map, such as a Service's: an empty or absent map matches everything. The
 * result is kept for a frozen map, as in `selectorFromLabelSelector`.
 */
export function selectorFromMap(labels: Labels | undefined): Selector {
  if (labels === undefined) return everything;
  const known = readMaps.get(labels) ?? readSelector({ matchLabels: labels });
  if (Object.isFrozen(labels)) readMaps.set(labels, known);
  return known;
}

export function matches(selector: Selector, labels: Labels | undefined): boolean {
  return (
    !selector.nothing && selector.requirements.every((requirement) => satisfies(requirement, labels ?? {}))
  );
}

/** Returns the text form, requirements sorted by key; `parseLabelSelector` can read the result. */
export function formatSelector(selector: Selector): string {
  return [...selector.requirements]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
}

const expressionOperators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const;

function satisfies({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case 'in':
      return value !== undefined && isAmong(values, value);
    case '!=':
    case 'notin':
      return value === undefined || !isAmong(values, value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const left = numberOf(value);
      const right = boundOf(values);
      if (left === undefined || right === undefined) return false;
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

/** Number of values up to which a linear search is faster than a set. */
const few = 8;
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Returns true if `value` is in `values`; a selector may have thousands of values. */
function isAmong(values: readonly string[], value: string): boolean {
  if (values.length <= few) return values.includes(value);
  const known = sets.get(values) ?? new Set(values);
  sets.set(values, known);
  return known.has(value);
}

const bounds = new WeakMap<readonly string[], bigint>();

/** Returns the number of a `gt` or `lt` requirement, parsed once. */
function boundOf(values: readonly string[]): bigint | undefined {
  const known = bounds.get(values) ?? parseInt64(values[0]);
  if (known !== undefined) bounds.set(values, known);
  return known;
}

/** The last parsed label value: a selector may compare the same label with a thousand numbers. */
let last: { readonly text: string | undefined; readonly number: bigint | undefined } = {
  text: undefined,
  number: undefined,
};

function numberOf(text: string | undefined): bigint | undefined {
  if (last.text !== text) last = { text, number: parseInt64(text) };
  return last.number;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case '=':
    case '!=':
      return `${key}${operator}${values[0] ?? ''}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort().join(',')})`;
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'gt':
      return `${key}>${values[0] ?? ''}`;
    case 'lt':
      return `${key}<${values[0] ?? ''}`;
  }
}

/**
 * Splits a text into tokens: a symbol is a token; anything else up to white space or a symbol is one word.
 */
function tokenize(text: string): string[] {
  return text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
}

/** Returns the number of requirements: one more than the number of commas outside parentheses. */
function countOfTerms(tokens: readonly string[]): number {
  let [count, isInside] = [1, false];
  for (const token of tokens) {
    if (token === '(') isInside = true;
    else if (token === ')') isInside = false;
    else if (token === ',' && !isInside) count++;
  }
  return count;
}

/**
 * Returns the index of the comma that ends the requirement at `start`; commas in parentheses do not end it.
 */
function endOfRequirement(tokens: readonly string[], start: number): number {
  let inside = false;
  for (let i = start; i < tokens.length; i++) {
    if (tokens[i] === '(') inside = true;
    else if (tokens[i] === ')') inside = false;
    else if (tokens[i] === ',' && !inside) return i;
  }
  return tokens.length;
}

const isWord = (token: string | undefined): token is string =>
  token !== undefined && !/^(?:==|!=|[=!<>(),])$/.test(token);

function parseRequirement(tokens: readonly string[], text: string): LabelRequirement {
  if (tokens[0] === '!') {
    if (!isWord(tokens[1]) || tokens.length > 2)
      throw refused(text, `found '${tokens.slice(1).join(' ')}', expected: identifier`);
    return { key: tokens[1], operator: '!', values: [] };
  }
  const [key, operator, ...rest] = tokens;
  if (!isWord(key)) throw refused(text, `found '${key ?? ''}', expected: !, identifier, or 'end of string'`);
  switch (operator) {
    case undefined:
      return { key, operator: 'exists', values: [] };
    case '=':
    case '==':
      return { key, operator: '=', values: [exactValue(rest, text)] };
    case '!=':
      return { key, operator: '!=', values: [exactValue(rest, text)] };
    case '>':
      return { key, operator: 'gt', values: [exactValue(rest, text)] };
    case '<':
      return { key, operator: 'lt', values: [exactValue(rest, text)] };
    case 'in':
    case 'notin':
      return { key, operator, values: setValues(rest, text) };
    default:
      throw refused(text, `found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function exactValue(tokens: readonly string[], text: string): string {
  if (tokens.length === 0) return '';
  const [value] = tokens;
  if (tokens.length > 1 || !isWord(value))
    throw refused(text, `found '${tokens.join(' ')}', expected: identifier`);
  return value;
}

/** Returns the tokens between the parentheses of a set. */
function inParentheses(tokens: readonly string[], text: string): readonly string[] {
  if (tokens[0] !== '(') throw refused(text, `found '${tokens[0] ?? ''}', expected: '('`);
  if (tokens.at(-1) !== ')') throw refused(text, `found '${tokens.at(-1) ?? ''}', expected: ',' or ')'`);
  return tokens.slice(1, -1);
}

function setValues(tokens: readonly string[], text: string): string[] {
  const values: string[] = [];
  let pending = '';
  for (const token of inParentheses(tokens, text)) {
    if (token === ',') {
      values.push(pending);
      pending = '';
    } else if (!isWord(token) || pending) throw refused(text, `found '${token}', expected: ',' or ')'`);
    else pending = token;
  }
  return [...new Set([...values, pending])];
}

function checked(requirement: LabelRequirement, text: string): LabelRequirement {
  const { key, operator, values } = requirement;
  const bad = checkQualifiedName(key)[0];
  if (bad) throw refused(text, `key: Invalid value: ${JSON.stringify(key)}: ${bad}`);
  if (operator === 'gt' || operator === 'lt') {
    if (parseInt64(values[0]) === undefined)
      throw refused(
        text,
        `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    return requirement;
  }
  for (const [index, value] of values.entries()) {
    const reason = checkLabelValue(value)[0];
    if (reason)
      throw refused(text, `values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${reason}`);
  }
  return requirement;
}

const refused = (text: string, why: string) =>
  newBadRequest(`unable to parse requirement in label selector ${JSON.stringify(text)}: ${why}`);
