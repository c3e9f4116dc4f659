/** The text of `?fieldSelector=`: `a=b`, `a==b`, `a!=b` joined by commas (k8s.io/apimachinery fields). */
import { checkSelectorLength, checkSelectorTerms } from './selector-length.ts';
import { newBadRequest } from './status-error.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

/** Reads one selectable field of the object at hand; undefined for a field the kind cannot be selected by. */
export type ReadField = (field: string) => string | undefined;

/** Throws a BadRequest StatusError. `\,`, `\=` and `\\` stand for the character behind the backslash. */
export function parseFieldSelector(text: string): FieldSelector {
  checkSelectorLength('field', text);
  const terms = splitTerms(text).filter((term) => term !== '');
  checkSelectorTerms('field', terms.length);
  return terms.map((term) => parseTerm(term));
}

/** Refuses, with a BadRequest, a selector by a field that the kind does not offer. */
export function checkFieldSelector(selector: FieldSelector, supported: (field: string) => boolean): void {
  for (const { field } of selector)
    if (!supported(field)) throw newBadRequest(`field label not supported: ${field}`);
}

export function matchesFields(selector: FieldSelector, read: ReadField): boolean {
  return selector.every(
    ({ field, operator, value }) => ((read(field) ?? '') === value) === (operator === '='),
  );
}

/** The value an object's field must have to match, when the selector says so: lets a list read one key. */
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
    if (char === '\\') {
      const next = value[++i];
      if (next === undefined || !'\\,='.includes(next))
        throw newBadRequest(`invalid field selector: invalid escape sequence: \\${next ?? ''}`);
      result += next;
    } else if (char === '=' || char === ',') {
      throw newBadRequest(`invalid field selector: unescaped character in value: ${char}`);
    } else result += char;
  }
  return result;
}

const escapeValue = (value: string) => value.replace(/[\\,=]/g, (char) => `\\${char}`);
