/** What became of each mutant, kept from run to run: one file for each source, a line for each mutant. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mutant } from './mutants.ts';

export type Outcome =
  | { readonly type: 'caught' | 'timed out'; readonly by: string; readonly test: string }
  /** No test failed; or none even ran what was changed. */
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

  /** What was found before, if `proofOf` says the same of it still. */
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
      // The end of the file, or of a run that was killed while it wrote: that mutant is run again.
      return [];
    }
  });
}

/** Of a source and the tests that were to notice: another text when one of them, or what it imports, has changed. */
export function proofOf(source: string, tests: readonly string[]): string {
  const hash = createHash('sha256').update(source);
  for (const test of tests) hash.update(`\0${test}`);
  return hash.digest('base64url').slice(0, 16);
}
