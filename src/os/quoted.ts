/** Returns any text as one word of a POSIX shell; throws for a NUL, which a shell word cannot contain. */
export function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('a word for a shell cannot hold a NUL character');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
