/** Which tests can notice a change of a file, from what imports what. */
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

  /** By path from the repository's root: the tests, and all that they can import. */
  constructor(files: ReadonlyMap<string, SourceFile>) {
    this.#files = files;
  }

  /** Those of the tests that import the file, by whatever way, the nearest first. */
  reaching(file: string, tests: readonly string[]): readonly string[] {
    return tests
      .flatMap((test) => {
        const steps = this.#from(test).get(file);
        return steps === undefined ? [] : [{ test, steps }];
      })
      .sort((one, other) => one.steps - other.steps)
      .map(({ test }) => test);
  }

  /** Changes when the test does, or anything that it imports. */
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

  /** Steps to everything that it imports. */
  #from(test: string): ReadonlyMap<string, number> {
    const known = this.#distances.get(test);
    if (known) return known;
    const distances = new Map([[test, 0]]);
    // A Map goes on with what is added while it is read.
    for (const [file, steps] of distances) {
      for (const { to, kind } of this.#files.get(file)?.imports ?? []) {
        if (kind !== 'type' && this.#files.has(to) && !distances.has(to)) distances.set(to, steps + 1);
      }
    }
    this.#distances.set(test, distances);
    return distances;
  }
}
