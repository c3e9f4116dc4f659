/** One word of a POSIX shell, whatever it holds; a NUL, which no shell can hold, is an error. */
export function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('a word for a shell cannot hold a NUL character');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
