/**
 * Texts in a configuration of nginx. Pure. A text in double quotes ends at the next quote that no backslash
 * precedes; a dollar sign cannot be escaped, so that callers must reject it where variables are expanded.
 */

/** Returns the text in double quotes. Throws an Error for a control character: callers validate values. */
export function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must be rejected.
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Error('a value of the configuration has a control character');
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Returns the text in double quotes. Throws an Error for a dollar sign too. */
export function quotedLiteral(text: string): string {
  if (text.includes('$')) throw new Error('a value of the configuration has a dollar sign');
  return quoted(text);
}
