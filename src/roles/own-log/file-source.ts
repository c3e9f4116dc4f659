/** Reads a log from its files, and follows it across rotations, replacement and removal. */
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Wake } from '../../base/keep-doing.ts';
import {
  type Following,
  following,
  type LogFile,
  openNewest,
  openOldest,
} from '../../kubelet/runtime/log-file-chain.ts';
import { openStart } from './file-start.ts';
import { Lines } from './lines.ts';
import type { Selection } from './selection.ts';

export interface Batch {
  readonly lines: readonly string[];
  /** True once all lines that were written before the command have been read. */
  readonly isCaughtUp: boolean;
}

export interface SourceOptions {
  readonly selection: Selection;
  /** Number of the last selected lines to begin with; undefined for all. */
  readonly tail: number | undefined;
  readonly follows: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const chunkBytes = 256 * 1024;

/** Milliseconds after which a log is checked again if no change of its folder was reported. */
const lookAgainMs = 5_000;
/** Milliseconds until the next check of files that are being renamed. */
const renamingMs = 5;
/** Maximum number of such checks: a rotation takes microseconds. */
const maxLooks = 50;

/** Yields the lines in their order, each once. Throws an Error of one line if there is no file. */
export async function* readFiles(path: string, options: SourceOptions): AsyncGenerator<Batch> {
  const { selection, tail, follows, signal } = options;
  const wake = new Wake();
  const watcher = follows ? watchFolder(path, wake) : undefined;
  try {
    const start = await openStart(path, selection, tail);
    if (start === undefined && !follows) throw new Error(`there is no log at ${path}`);
    yield* new FileReader(path, start, wake, options).read();
  } finally {
    watcher?.close();
    if (signal.aborted) wake.call();
  }
}

function watchFolder(path: string, wake: Wake) {
  const watcher = watch(dirname(path), { persistent: false }, () => wake.call());
  watcher.on('error', () => wake.call());
  return watcher;
}

class FileReader {
  readonly #path: string;
  readonly #wake: Wake;
  readonly #options: SourceOptions;
  readonly #lines = new Lines();
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  #file: LogFile | undefined;
  #offset: number;
  #isCaughtUp = false;
  /** Number of consecutive checks that found the files being renamed. */
  #looks = 0;

  constructor(
    path: string,
    start: { readonly file: LogFile; readonly offset: number } | undefined,
    wake: Wake,
    options: SourceOptions,
  ) {
    this.#path = path;
    this.#wake = wake;
    this.#options = options;
    this.#file = start?.file;
    this.#offset = start?.offset ?? 0;
  }

  async *read(): AsyncGenerator<Batch> {
    const { signal } = this.#options;
    try {
      for (let isOver = false; !isOver && !signal.aborted; ) {
        this.#wake.forget();
        const next = await this.#next();
        // The next file was searched first, so that all lines written to this file before the rotation are
        // read now.
        yield* this.#readOn();
        isOver = this.#isOverAt(next);
        if (isOver || typeof next === 'object') yield this.#batch(this.#lines.end());
        else yield this.#batch([]);
        if (!isOver) await this.#goOn(next);
      }
    } finally {
      await this.#file?.handle.close();
    }
  }

  /** Finds the file after this one; undefined while there is none. */
  async #next(): Promise<Following | undefined> {
    if (this.#file === undefined) return openOldest(this.#path);
    const next = await following(this.#path, this.#file);
    this.#looks = next === 'changing' ? this.#looks + 1 : 0;
    return this.#looks > maxLooks ? this.#replacement(this.#file) : next;
  }

  /**
   * Finds the file that now has the log's name, after another program gave this file a name without a number.
   */
  async #replacement(file: LogFile): Promise<Following> {
    const newest = await openNewest(this.#path);
    if (newest !== undefined && newest.inode !== file.inode) return newest;
    await newest?.handle.close();
    return 'newest';
  }

  /** Returns true at the end of a log that is not followed. */
  #isOverAt(next: Following | undefined): boolean {
    if (typeof next === 'object' || next === 'changing') return false;
    this.#isCaughtUp = true;
    return !this.#options.follows;
  }

  /** Goes on with the next file, or waits for a change. */
  async #goOn(next: Following | undefined): Promise<void> {
    const { clock, signal } = this.#options;
    if (typeof next !== 'object')
      return this.#wake.wait(clock, next === 'changing' ? renamingMs : lookAgainMs, signal);
    await this.#file?.handle.close();
    this.#file = next;
    this.#offset = 0;
  }

  #batch(lines: readonly string[]): Batch {
    return { lines, isCaughtUp: this.#isCaughtUp };
  }

  /** Reads to where the file ends now; a file that was emptied is read from its beginning. */
  async *#readOn(): AsyncGenerator<Batch> {
    if (this.#file === undefined) return;
    const { handle } = this.#file;
    if ((await handle.stat()).size < this.#offset) this.#offset = 0;
    while (!this.#options.signal.aborted) {
      const { bytesRead } = await handle.read(this.#buffer, 0, chunkBytes, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      yield this.#batch(this.#lines.add(this.#buffer.subarray(0, bytesRead)));
    }
  }
}
