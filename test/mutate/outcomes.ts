/** Outcome of each mutant, kept between runs: one file for each source, one line for each mutant. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mutant } from './mutants.ts';

export type Outcome =
  | { readonly type: 'caught' | 'timed out'; readonly by: string; readonly test: string }
  /** No test failed (`survived`), or no test executed the changed code (`not run`). */
  | { readonly type: 'survived' | 'not run' | 'equivalent' };

interface Line {
  readonly mutant: string;
  readonly outcome: Outcome;
  readonly proof: string;
}

export class OutcomeLog {
  readonly #path: string;
  readonly #known: ReadonlyMap<string, Line>;

  constructor(directory: string, file: string) {
    this.#path = join(directory, `${file}.jsonl`);
    this.#known = new Map(linesOf(this.#path).map((line) => [line.mutant, line]));
  }

  /** Returns the earlier outcome, if `proofOf` still returns the same for it. */
  get(mutant: Mutant, proofOf: (outcome: Outcome) => string): Outcome | undefined {
    const line = this.#known.get(nameOf(mutant));
    return line && line.proof === proofOf(line.outcome) ? line.outcome : undefined;
  }

  add(mutant: Mutant, outcome: Outcome, proof: string): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify({ mutant: nameOf(mutant), outcome, proof })}\n`);
  }
}

const nameOf = ({ start, end, replacement }: Mutant) => `${start} ${end} ${replacement}`;

function linesOf(path: string): readonly Line[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      // The line is the end of the file, or of a run that was killed while it wrote: that mutant is run
      // again.
      return [];
    }
  });
}

/**
 * Returns a hash of a source and its tests, which changes when one of them, or a file that they import, has
 * changed.
 */
export function proofOf(source: string, tests: readonly string[]): string {
  const hash = createHash('sha256').update(source);
  for (const test of tests) hash.update(`\0${test}`);
  return hash.digest('base64url').slice(0, 16);
}
