/**
 * The text without every such character at its end. A regular expression that looks for them from the left takes time that grows
 * with the square of a text with many of them in its middle.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
