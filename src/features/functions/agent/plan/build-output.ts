/** Formats the output of a build for users. Pure. */

/** Returns the line without passwords in addresses and without control characters of terminals. */
export function cleanLine(line: string): string {
  return (
    line
      .replaceAll(/(\/\/)[^/\s@]+@/g, '$1****@')
      .replaceAll(/((?:_authToken|_auth|_password|authorization)\s*[=:]\s*)\S.*$/gi, '$1****')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
      .replaceAll(/\u001b\[[0-9;]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
  );
}

const tailBytes = 4096;
const messageLines = 5;

/** Returns the last bytes of the text, cut to whole lines where possible. */
export function tailOf(text: string, most = tailBytes): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const cut = bytes.subarray(bytes.length - most).toString('utf8');
  const line = cut.indexOf('\n');
  return line >= 0 && line < cut.length - 1 ? cut.slice(line + 1) : cut.replace(/^\uFFFD+/, '');
}

/** Returns the last meaningful lines of the output as a message. */
export function lastLines(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/complete log of this run/.test(line));
  return tailOf(lines.slice(-messageLines).join('\n'), 1024);
}
