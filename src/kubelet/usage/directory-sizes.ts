/**
 * Sizes of directories, measured in the background: measuring a directory can take seconds, and requests for
 * usage do not wait for that. Each size has the time of its measurement.
 */
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { type Exec, ExecError } from '../../os/exec.ts';

export interface DirectorySize {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
  readonly inodes: number;
}

export interface DirectorySizesOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
}

const everyMs = 60_000;
const timeoutMs = 60_000;
/** Number of directories that one `du` measures. */
const atOnce = 50;

export class DirectorySizes {
  readonly #options: DirectorySizesOptions;
  #sizes = new Map<string, DirectorySize>();
  #measuring: Promise<void> | undefined;
  #measuredAt = Number.NEGATIVE_INFINITY;
  readonly #stop = new AbortController();

  constructor(options: DirectorySizesOptions) {
    this.#options = options;
  }

  /** Returns the size; undefined when the directory has not been measured yet, or cannot be. */
  get(directory: string): DirectorySize | undefined {
    return this.#sizes.get(directory);
  }

  /**
   * Measures these directories, unless that was done within the last minute; sizes of all others are dropped.
   */
  want(directories: readonly string[]): void {
    const { clock } = this.#options;
    const isNew = directories.some((one) => !this.#sizes.has(one));
    const age = clock.monotonic() - this.#measuredAt;
    // A new directory does not wait for the next regular measurement, but must not cause one at each request
    // either.
    if (this.#measuring || age < (isNew ? everyMs / 6 : everyMs) || this.#stop.signal.aborted) return;
    this.#measuring = this.#measure([...new Set(directories)]).finally(() => {
      this.#measuring = undefined;
      this.#measuredAt = clock.monotonic();
    });
  }

  /** Resolves when the measurement in progress, if any, is done. */
  async settled(): Promise<void> {
    await this.#measuring;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#measuring;
  }

  async #measure(directories: readonly string[]): Promise<void> {
    const at = this.#options.clock.now();
    const sizes = new Map<string, DirectorySize>();
    for (let first = 0; first < directories.length && !this.#stop.signal.aborted; first += atOnce) {
      const some = directories.slice(first, first + atOnce);
      const bytes = await this.#count(['--block-size=1'], some);
      const inodes = await this.#count(['--inodes'], some);
      for (const directory of some) {
        const [size, files] = [bytes.get(directory), inodes.get(directory)];
        if (size !== undefined && files !== undefined)
          sizes.set(directory, { at, bytes: size, inodes: files });
      }
    }
    this.#sizes = sizes;
  }

  async #count(
    unit: readonly string[],
    directories: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const { exec, log } = this.#options;
    const args = ['--summarize', '--one-file-system', '--null', ...unit, '--', ...directories];
    try {
      const { stdout } = await exec('du', args, { timeoutMs, lengthy: true, signal: this.#stop.signal });
      return countsIn(stdout);
    } catch (error) {
      // The program du also fails when an entry was removed while it counted, but still prints its counts.
      if (error instanceof ExecError) return countsIn(error.failure.stdout);
      if (!this.#stop.signal.aborted) log.debug('cannot measure directories', { error: errorMessage(error) });
      return new Map();
    }
  }
}

const countsIn = (output: string): ReadonlyMap<string, number> =>
  new Map(
    output.split('\0').flatMap((line) => {
      const [, count, directory] = /^(\d+)\t(.*)$/s.exec(line) ?? [];
      return count === undefined || directory === undefined ? [] : [[directory, Number(count)] as const];
    }),
  );
