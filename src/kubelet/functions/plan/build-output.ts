/** What a build says, for people. Pure. */

/** Without passwords in addresses, and without what would move a terminal. */
export function cleanLine(line: string): string {
  return (
    line
      .replaceAll(/(\/\/)[^/\s@]+@/g, '$1****@')
      .replaceAll(/((?:_authToken|_auth|_password|authorization)\s*[=:]\s*)\S.*$/gi, '$1****')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
      .replaceAll(/\u001b\[[0-9;]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
  );
}

const tailBytes = 4096;
const messageLines = 5;

/** The last bytes of the text, of whole lines where one ends in them. */
export function tailOf(text: string, most = tailBytes): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const cut = bytes.subarray(bytes.length - most).toString('utf8');
  const line = cut.indexOf('\n');
  return line >= 0 && line < cut.length - 1 ? cut.slice(line + 1) : cut.replace(/^\uFFFD+/, '');
}

/** What went wrong, in the last lines that say something. */
export function lastLines(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/complete log of this run/.test(line));
  return tailOf(lines.slice(-messageLines).join('\n'), 1024);
}
