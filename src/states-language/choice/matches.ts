/**
 * StringMatches: `*` in a pattern matches any characters; `\*` is a star, `\\` a backslash. Linear in the
 * text.
 */

/** Returns the unescaped texts between the stars, or undefined if a backslash precedes another character. */
export function parsePattern(pattern: string): readonly string[] | undefined {
  const parts: string[] = [];
  let part = '';
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at];
    if (sign === '*') {
      parts.push(part);
      part = '';
      continue;
    }
    const escaped = sign === '\\' ? pattern[++at] : undefined;
    if (sign === '\\' && escaped !== '*' && escaped !== '\\') return undefined;
    part += escaped ?? sign;
  }
  return [...parts, part];
}

/** Returns true if the whole text matches the pattern. An invalid pattern matches nothing. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first, ...rest] = parsePattern(pattern) ?? [];
  if (first === undefined || !text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  const end = text.length - last.length;
  if (end < at || !text.endsWith(last)) return false;
  for (const part of rest) {
    at = endOf(text, part, at, end);
    if (at < 0) return false;
  }
  return true;
}

/**
 * Returns the end of the first occurrence between `from` and `to`, or -1. Uses the algorithm of Knuth, Morris
 * and Pratt, because the engine's search may take time proportional to the product of both lengths.
 */
function endOf(text: string, part: string, from: number, to: number): number {
  if (part === '') return from;
  const back = fallbacks(part);
  let matched = 0;
  for (let at = from; at < to; at++) {
    while (matched > 0 && part[matched] !== text[at]) matched = back[matched - 1] ?? 0;
    if (part[matched] === text[at]) matched++;
    if (matched === part.length) return at + 1;
  }
  return -1;
}

/**
 * Returns the failure function: for each prefix length, less one, the length of the longest suffix that is a
 * prefix.
 */
function fallbacks(part: string): readonly number[] {
  const back = [0];
  let matched = 0;
  for (let at = 1; at < part.length; at++) {
    while (matched > 0 && part[matched] !== part[at]) matched = back[matched - 1] ?? 0;
    if (part[matched] === part[at]) matched++;
    back.push(matched);
  }
  return back;
}
