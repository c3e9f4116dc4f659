/** StringMatches: a pattern where `*` stands for any characters; `\*` is a star, `\\` a backslash. Linear in the text. */

/** The texts between the stars, without escapes; undefined when a backslash is before something else. */
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

/** Whether the whole text is as the pattern says. A pattern that is none matches nothing. */
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
 * Where the first occurrence between `from` and `to` ends; -1 when there is none. By the method of Knuth, Morris and Pratt:
 * the search of the engine may take the product of both lengths.
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

/** For each length of a beginning, less one: how much of its end is again a beginning. */
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
