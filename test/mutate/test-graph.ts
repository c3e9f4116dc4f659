/** Tests that can detect a change of a file, from the imports. */
import { createHash } from 'node:crypto';
import type { Import } from '../fixtures/imports.ts';

export interface SourceFile {
  readonly text: string;
  readonly imports: readonly Import[];
}

export class TestGraph {
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();
  readonly #hashes = new Map<string, string>();

  /** `files`: the tests and everything that they can import, by path from the repository's root. */
  constructor(files: ReadonlyMap<string, SourceFile>) {
    this.#files = files;
  }

  /** Returns the tests that import the file, directly or indirectly, the nearest first. */
  reaching(file: string, tests: readonly string[]): readonly string[] {
    return tests
      .flatMap((test) => {
        const steps = this.#from(test).get(file);
        return steps === undefined ? [] : [{ test, steps }];
      })
      .sort((one, other) => one.steps - other.steps)
      .map(({ test }) => test);
  }

  /** Returns a hash that changes when the test changes, or a file that it imports. */
  hashOf(test: string): string {
    const known = this.#hashes.get(test);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    for (const file of [...this.#from(test).keys()].sort()) {
      hash.update(`${file}\0${this.#files.get(file)?.text}\0`);
    }
    const digest = hash.digest('base64url').slice(0, 16);
    this.#hashes.set(test, digest);
    return digest;
  }

  /** Returns the number of steps to each file that the test imports. */
  #from(test: string): ReadonlyMap<string, number> {
    const known = this.#distances.get(test);
    if (known) return known;
    const distances = new Map([[test, 0]]);
    // Iteration over a Map includes entries that are added meanwhile.
    for (const [file, steps] of distances) {
      for (const { to, kind } of this.#files.get(file)?.imports ?? []) {
        if (kind !== 'type' && this.#files.has(to) && !distances.has(to)) distances.set(to, steps + 1);
      }
    }
    this.#distances.set(test, distances);
    return distances;
  }
}
