/** The cause of a failed start or build, in one line, from the message of the condition Ready. Pure. */

/** Returns the first line if it has the form `main.py:3: SyntaxError: …`, which the runtimes write. */
export function locatedCause(message: string): string | undefined {
  const [first = ''] = message.split('\n');
  return /^[^\s:]+:\d+: /.test(first) ? first : undefined;
}

/**
 * Returns one line of the message: the located cause, else the last line, which has the cause in the log of a
 * build. A last line in brackets names the version that is called meanwhile.
 */
export function causeLine(message: string): string {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  const causes = lines.length > 1 && lines.at(-1)?.startsWith('(') ? lines.slice(0, -1) : lines;
  return locatedCause(message) ?? causes.at(-1) ?? '';
}
