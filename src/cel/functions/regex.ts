/** Regular expressions with the semantics of RE2: no backtracking, so the time is linear in the text. */
import { RE2JS } from 're2js';
import type { Run } from '../evaluation/run.ts';
import { Fault } from '../values/value.ts';

/** Longest pattern, and the largest program that a pattern may become. */
const maxPattern = 4096;
const maxProgram = 2000;

/** Compiled patterns, the oldest first. */
const compiled = new Map<string, RE2JS | Fault>();
const maxCompiled = 500;

/**
 * Returns the compiled pattern, or a fault in upstream's words. Compiled patterns are kept, since a pattern
 * is nearly always a literal.
 */
export function compilePattern(pattern: string): RE2JS | Fault {
  const known = compiled.get(pattern);
  if (known) return known;
  const made = compileNew(pattern);
  const [oldest] = compiled.keys();
  if (compiled.size >= maxCompiled && oldest !== undefined) compiled.delete(oldest);
  compiled.set(pattern, made);
  return made;
}

function compileNew(pattern: string): RE2JS | Fault {
  if (pattern.length > maxPattern)
    return new Fault(`error parsing regexp: expression exceeds ${maxPattern} bytes`);
  try {
    const made = RE2JS.compile(pattern);
    return made.programSize() > maxProgram ? new Fault('error parsing regexp: expression too large') : made;
  } catch (error) {
    return new Fault(error instanceof Error ? error.message : String(error));
  }
}

/** Counts the work of matching the text: each character may be tried against the whole program. */
export function countMatching(pattern: RE2JS, text: string, run: Run): void {
  run.work(48 + text.length * (1 + pattern.programSize() / 16));
}
