/**
 * Regular expressions of users, with the syntax and the linear time of RE2, as Go has them. A JavaScript
 * RegExp can take exponential time and must not be used for them.
 */
import { RE2JS } from 're2js';
import { BoundedMap } from '../base/bounded-map.ts';

/** A compiled expression. */
export interface Pattern {
  /** Number of instructions: the time of a match is at most its product with the length of the text. */
  readonly size: number;
  /** Returns true if any part of the text matches. */
  matches(text: string): boolean;
  /** Returns the parts that match, from the first on. */
  partsOf(text: string): Iterable<string>;
}

/** A text that is no regular expression; the message is that of Go's regexp.Compile. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Compiled expressions by their texts, the oldest first: schemas and rules repeat a few. */
const compiled = new BoundedMap<Pattern>(1000);

/** Throws PatternError. */
export function compilePattern(text: string): Pattern {
  const known = compiled.get(text) ?? compileNew(text);
  compiled.set(text, known);
  return known;
}

function compileNew(text: string): Pattern {
  try {
    const made = RE2JS.compile(text);
    return {
      size: made.programSize(),
      matches: (value) => made.test(value),
      partsOf: (value) => parts(made, value),
    };
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
}

function* parts(made: RE2JS, text: string): Iterable<string> {
  const matcher = made.matcher(text);
  while (matcher.find()) yield matcher.group() ?? '';
}
