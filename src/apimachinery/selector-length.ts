/**
 * Limits of selectors. Each object of a list and each event of a watch is compared with every term; a
 * request's head may be a megabyte long, which is enough for half a million terms. Upstream limits only that
 * length.
 */
import { newBadRequest } from './status-error.ts';

const maxCharacters = 32 * 1024;
/**
 * Maximum number of requirements, joined by commas. A set such as `in (a,b,c)` is one: its size does not slow
 * comparison.
 */
export const maxSelectorTerms = 1000;

/** Throws a BadRequest for a selector that is too long. */
export function checkSelectorLength(kind: 'label' | 'field', text: string): void {
  if (text.length <= maxCharacters) return;
  throw newBadRequest(
    `the ${kind} selector has ${text.length} characters; at most ${maxCharacters} are allowed: use fewer terms, in several requests`,
  );
}

/** Throws a BadRequest for a selector with too many terms. */
export function checkSelectorTerms(kind: 'label' | 'field', count: number): void {
  if (count <= maxSelectorTerms) return;
  throw newBadRequest(
    `the ${kind} selector has ${count} terms; at most ${maxSelectorTerms} are allowed: use sets such as "in (a,b)", or several requests`,
  );
}
