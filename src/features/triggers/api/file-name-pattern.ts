/**
 * Glob patterns of file names: `*` is any text, `?` one character, `[a-z]` and `[!a-z]` one of a set. Pure.
 */

const maxPatternLength = 255;
const maxStars = 16;

/** A test for one character of a name, or `*` for any number of characters. */
type Step = '*' | ((character: string) => boolean);

/** Returns the problem of an invalid pattern; undefined for a valid one. */
export function patternFault(pattern: string): string | undefined {
  if (pattern === '' || pattern.length > maxPatternLength)
    return `must have 1 to ${maxPatternLength} characters`;
  if (pattern.includes('/')) return 'must match the name of a file, which has no "/"';
  const steps = stepsOf(pattern);
  if (steps === undefined) return 'has a "[" without a "]"; "[[]" matches the character "["';
  return steps.filter((step) => step === '*').length > maxStars
    ? `may have at most ${maxStars} "*"`
    : undefined;
}

/**
 * Returns a matcher for a valid pattern. Matching takes time in proportion to the lengths of name and
 * pattern.
 */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const steps = stepsOf(pattern) ?? [];
  return (name) => matches([...name], steps);
}

function stepsOf(pattern: string): Step[] | undefined {
  const characters = [...pattern];
  const steps: Step[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === '[') {
      const set = setAt(characters, at);
      if (set === undefined) return undefined;
      steps.push(set.step);
      at = set.end;
    } else if (character !== '*' || steps.at(-1) !== '*') steps.push(stepOf(character));
  }
  return steps;
}

function stepOf(character: string): Step {
  if (character === '*') return '*';
  return character === '?' ? () => true : (one) => one === character;
}

/** Returns the step of the set that begins at `at`, and the place of its closing bracket. */
function setAt(characters: readonly string[], at: number): { step: Step; end: number } | undefined {
  const isNot = characters[at + 1] === '!';
  const from = at + (isNot ? 2 : 1);
  // A bracket in the first place is a member of the set.
  const end = characters.indexOf(']', from + 1);
  if (end === -1) return undefined;
  const isOne = oneOf(characters.slice(from, end));
  return { step: (one) => isOne(one) !== isNot, end };
}

function oneOf(set: readonly string[]): (character: string) => boolean {
  const ranges: [from: string, to: string][] = [];
  for (let at = 0; at < set.length; at++) {
    const [from, dash, to] = [set[at] as string, set[at + 1], set[at + 2]];
    if (dash === '-' && to !== undefined) {
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to);
}

/** Returns true if the name matches. On a mismatch, the last `*` takes one more character. */
function matches(name: readonly string[], steps: readonly Step[]): boolean {
  let [at, step] = [0, 0];
  let star: { readonly step: number; at: number } | undefined;
  while (at < name.length) {
    const wanted = steps[step];
    if (wanted === '*') {
      star = { step, at };
      step++;
    } else if (wanted?.(name[at] as string)) {
      at++;
      step++;
    } else if (star) {
      star.at++;
      at = star.at;
      step = star.step + 1;
    } else return false;
  }
  return steps.slice(step).every((one) => one === '*');
}
