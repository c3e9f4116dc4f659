/**
 * Returns the text without trailing `character`s. A regular expression takes quadratic time for a text with
 * many of them in its middle.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
