/** The text of `?fieldSelector=`: `a=b`, `a==b`, `a!=b` joined by commas (k8s.io/apimachinery fields). */
import { checkSelectorLength, checkSelectorTerms } from './selector-length.ts';
import { newBadRequest } from './status-error.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

/**
 * Returns the value of a selectable field of an object; undefined if the kind has no such selectable field.
 */
export type ReadField = (field: string) => string | undefined;

/**
 * Parses a field selector; throws a BadRequest StatusError. `\,`, `\=` and `\\` stand for the character after
 * the backslash.
 */
export function parseFieldSelector(text: string): FieldSelector {
  checkSelectorLength('field', text);
  const terms = splitTerms(text).filter((term) => term !== '');
  checkSelectorTerms('field', terms.length);
  return terms.map((term) => parseTerm(term));
}

/** Rejects, with a BadRequest, a selector by a field that the kind does not support. */
export function checkFieldSelector(selector: FieldSelector, supported: (field: string) => boolean): void {
  for (const { field } of selector)
    if (!supported(field)) throw newBadRequest(`field label not supported: ${field}`);
}

export function matchesFields(selector: FieldSelector, read: ReadField): boolean {
  return selector.every(
    ({ field, operator, value }) => ((read(field) ?? '') === value) === (operator === '='),
  );
}

/**
 * Returns the value that the selector requires of the field; undefined if there is none. Lets a list read a
 * single key.
 */
export function requiredFieldValue(selector: FieldSelector, field: string): string | undefined {
  return selector.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
}

export function formatFieldSelector(selector: FieldSelector): string {
  return selector.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === '\\') term += char + (text[++i] ?? '');
    else if (char === ',') {
      terms.push(term);
      term = '';
    } else term += char;
  }
  terms.push(term);
  return terms;
}

function parseTerm(term: string): FieldRequirement {
  const found = /^((?:[^\\=!]|\\.)*?)(!=|==|=)(.*)$/s.exec(term);
  if (!found)
    throw newBadRequest(
      `invalid selector: ${JSON.stringify(term)}; can't understand ${JSON.stringify(term)}`,
    );
  const [, field = '', operator, value = ''] = found;
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
}

function unescapeValue(value: string): string {
  let result = '';
  for (let i = 0; i < value.length; i++) {
    const char = value[i] ?? '';
    if (char === '\\') result += checkEscaped(value[++i]);
    else if (char === '=' || char === ',')
      throw newBadRequest(`invalid field selector: unescaped character in value: ${char}`);
    else result += char;
  }
  return result;
}

/** Returns the character after a backslash; throws a BadRequest for one that has no escape sequence. */
function checkEscaped(char: string | undefined): string {
  if (char === undefined || !'\\,='.includes(char))
    throw newBadRequest(`invalid field selector: invalid escape sequence: \\${char ?? ''}`);
  return char;
}

const escapeValue = (value: string) => value.replace(/[\\,=]/g, (char) => `\\${char}`);
