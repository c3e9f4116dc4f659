/**
 * How long the text of a selector may be. Each object of a list is held against each of its terms; the head of a request
 * may be a megabyte long, with room for half a million.
 */
import { newBadRequest } from './status-error.ts';

const mostCharacters = 32 * 1024;

/** Throws a BadRequest. */
export function checkSelectorLength(kind: 'label' | 'field', text: string): void {
  if (text.length <= mostCharacters) return;
  throw newBadRequest(
    `the ${kind} selector has ${text.length} characters; at most ${mostCharacters} are allowed: use fewer terms, in several requests`,
  );
}
