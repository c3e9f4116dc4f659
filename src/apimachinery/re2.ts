/**
 * Regular expressions of users, with the syntax and the linear time of RE2, as Go has them. A JavaScript
 * RegExp can take exponential time and must not be used for them.
 */
import { RE2JS } from 're2js';

export interface Pattern {
  /** Returns true if any part of the text matches. */
  matches(text: string): boolean;
}

/** A text that is no regular expression; the message is that of Go's regexp.Compile. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Throws PatternError. */
export function compilePattern(text: string): Pattern {
  try {
    const compiled = RE2JS.compile(text);
    return { matches: (value) => compiled.test(value) };
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
}
