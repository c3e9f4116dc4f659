/** Runs the tests that may detect a mutant, one after the other, until one fails. */
import type { Mutant } from './mutants.ts';
import type { Outcome } from './outcomes.ts';
import type { TestResult } from './run-test.ts';

export interface Candidate {
  readonly test: string;
  /** Returns whether the test executes the code at an offset of the source. */
  readonly runs: (offset: number) => boolean;
}

export class Judge {
  /** Candidates, the nearest first. */
  readonly #candidates: readonly Candidate[];
  readonly #run: (mutant: Mutant, test: string) => Promise<TestResult>;
  readonly #caught = new Map<string, number>();

  constructor(candidates: readonly Candidate[], run: (mutant: Mutant, test: string) => Promise<TestResult>) {
    this.#candidates = candidates;
    this.#run = run;
  }

  async judge(mutant: Mutant): Promise<Outcome> {
    const candidates = this.#candidates.filter(({ runs }) => runs(mutant.start));
    if (candidates.length === 0) return { type: 'not run' };
    // The test that has detected the most mutants so far is the most likely to detect this one.
    const score = ({ test }: Candidate) => this.#caught.get(test) ?? 0;
    for (const { test } of candidates.toSorted((one, other) => score(other) - score(one))) {
      const result = await this.#run(mutant, test);
      if (result.type === 'passed') continue;
      this.#caught.set(test, (this.#caught.get(test) ?? 0) + 1);
      return result.type === 'failed'
        ? { type: 'caught', by: test, test: result.test }
        : { type: 'timed out', by: test, test: '' };
    }
    return { type: 'survived' };
  }
}
