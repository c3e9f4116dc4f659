/** Regular expressions with the semantics of RE2: no backtracking, so the time is linear in the text. */
import { compilePattern as compileRe2, type Pattern, PatternError } from '../../apimachinery/re2.ts';
import type { Run } from '../evaluation/run.ts';
import { Fault } from '../values/value.ts';

/** Longest pattern, and the largest program that a pattern may become. */
const maxPattern = 4096;
const maxProgram = 2000;

/** Returns the compiled pattern, or a fault in upstream's words. */
export function compilePattern(pattern: string): Pattern | Fault {
  if (pattern.length > maxPattern)
    return new Fault(`error parsing regexp: expression exceeds ${maxPattern} bytes`);
  try {
    const made = compileRe2(pattern);
    return made.size > maxProgram ? new Fault('error parsing regexp: expression too large') : made;
  } catch (error) {
    if (error instanceof PatternError) return new Fault(error.message);
    throw error;
  }
}

/** Counts the work of matching the text: each character may be tried against the whole program. */
export function countMatching(pattern: Pattern, text: string, run: Run): void {
  run.work(48 + text.length * (1 + pattern.size / 16));
}
