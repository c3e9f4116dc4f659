/** Texts as words of a POSIX shell, for commands that are run or shown. Pure. */

/** Returns any text as one word in quotes; throws for a NUL, which a shell word cannot contain. */
export function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('a word for a shell cannot hold a NUL character');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns any text as one word, in quotes if the shell would read it otherwise; a NUL is left out. */
export const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : quoted(word.replaceAll('\0', ''));
