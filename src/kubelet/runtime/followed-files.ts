/**
 * Follows a container's log in the engine's own files, as the kubelet does with the files of other runtimes.
 * The engine's `follow` cannot be used: Docker before 23 reads a file again after a rotation, and skips the
 * rest of one that was rotated while the reader was behind. An open file keeps its content when it is renamed
 * or removed, so no line is lost as long as the reader is not behind all files that are kept.
 */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { onAbort } from '../../base/abort.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { type Following, following, type LogFile, openOldest } from './log-file-chain.ts';
import { LogFilePrinter, type PrintOptions } from './log-file-lines.ts';
import { type LogPlace, openTail } from './log-tail.ts';

export interface FollowedFiles {
  /** The file that the engine writes; older ones are beside it, as `PATH.1` and so on. */
  readonly path: string;
  /** Size in bytes from which on a file is rotated; Infinity when none is. */
  readonly maxBytes: number;
}

export interface FollowOptions extends PrintOptions {
  /** Number of the last entries to begin with. Undefined: all that are kept. */
  readonly tailLines: number | undefined;
}

const chunkBytes = 64 * 1024;

/**
 * Opens the files; undefined when they are missing or cannot be watched. `ended` resolves when the container
 * has ended and its log is complete, and rejects when that can no longer be determined. The returned sequence
 * ends after the container has ended, or when the signal aborts; it throws the rejection of `ended`, and
 * RuntimeError when files were removed before they were read. Files are closed when it ends or the signal
 * aborts.
 */
export async function followFiles(
  files: FollowedFiles,
  { tailLines, ...print }: FollowOptions,
  ended: Promise<void>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const change = watchFolder(dirname(files.path));
  if (!change) return undefined;
  try {
    const place = await openPlace(files.path, tailLines);
    if (place) return new FollowedLog(files, place, new LogFilePrinter(print), change, ended, signal).read();
  } catch (error) {
    change.close();
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
  change.close();
  return undefined;
}

async function openPlace(path: string, tailLines: number | undefined): Promise<LogPlace | undefined> {
  if (tailLines !== undefined) return openTail(path, tailLines);
  const file = await openOldest(path);
  return file && { file, offset: 0 };
}

/** A change to wait for; it may also happen before the wait begins. */
class Change {
  readonly #watcher: FSWatcher;
  #next = Promise.withResolvers<void>();

  constructor(watcher: FSWatcher) {
    this.#watcher = watcher;
    watcher.on('change', () => this.happened());
    // The folder was removed with the container; the container's end is noticed separately.
    watcher.on('error', () => this.happened());
  }

  happened(): void {
    this.#next.resolve();
  }

  /**
   * Resets the change. Must be called before the files are checked, so that a later change ends the next
   * wait.
   */
  forget(): void {
    this.#next = Promise.withResolvers();
  }

  wait(): Promise<void> {
    return this.#next.promise;
  }

  close(): void {
    this.#watcher.close();
  }
}

/** Returns undefined when the folder is missing or the machine's limit of watches is reached. */
function watchFolder(folder: string): Change | undefined {
  try {
    return new Change(watch(folder, { persistent: false }));
  } catch {
    return undefined;
  }
}

type End = 'over' | { readonly error: unknown };

class FollowedLog {
  readonly #files: FollowedFiles;
  readonly #printer: LogFilePrinter;
  readonly #change: Change;
  readonly #signal: AbortSignal;
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  readonly #unlink: () => void;
  #file: LogFile;
  #next: LogFile | undefined;
  #offset: number;
  #end: End | undefined;

  constructor(
    files: FollowedFiles,
    { file, offset }: LogPlace,
    printer: LogFilePrinter,
    change: Change,
    ended: Promise<void>,
    signal: AbortSignal,
  ) {
    this.#files = files;
    this.#file = file;
    this.#offset = offset;
    this.#printer = printer;
    this.#change = change;
    this.#signal = signal;
    const note = (end: End) => {
      this.#end = end;
      change.happened();
    };
    ended.then(
      () => note('over'),
      (error: unknown) => note({ error }),
    );
    // The files are closed at an abort even if reading has not begun.
    this.#unlink = onAbort(signal, () => {
      change.happened();
      this.#close();
    });
  }

  /** Continues with the next file, or waits for a change. Returns true at the end of the log. */
  async #goOn(next: Following, end: End | undefined): Promise<boolean> {
    if (typeof next === 'object') {
      await this.#goOnWith(next);
      return false;
    }
    if (next === 'removed') {
      await this.#requireWhole();
      return true;
    }
    if (end && end !== 'over') throw end.error;
    if (!end) await this.#change.wait();
    return end === 'over';
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      let isOver = false;
      while (!isOver && !this.#signal.aborted) {
        this.#change.forget();
        const end = this.#end;
        const next = await following(this.#files.path, this.#file);
        // The next file is stored so that #close closes it if the reader leaves during the following `yield`.
        this.#next = typeof next === 'object' ? next : undefined;
        // The end of the container and the next file were determined before this: all bytes written until
        // then are read now.
        yield* this.#readOn();
        isOver = await this.#goOn(next, end);
      }
    } catch (error) {
      // An error after the abort comes from the file that the abort closed.
      if (!this.#signal.aborted) throw error;
    } finally {
      this.#unlink();
      this.#close();
    }
  }

  /** Reads up to the current end of the file. */
  async *#readOn(): AsyncGenerator<Uint8Array> {
    const { handle } = this.#file;
    for (;;) {
      const { bytesRead } = await handle.read(this.#buffer, 0, chunkBytes, this.#offset);
      if (bytesRead > 0) {
        this.#offset += bytesRead;
        const printed = this.#printer.print(this.#buffer.subarray(0, bytesRead));
        if (printed.length > 0) yield printed;
        continue;
      }
      if ((await handle.stat()).size >= this.#offset) return;
      // The file has been truncated, for example by logrotate with copytruncate.
      this.#offset = 0;
      this.#printer.nextFile();
    }
  }

  /** Continues with the next file. The last one is closed afterwards: until then no file gets its inode. */
  async #goOnWith(next: LogFile): Promise<void> {
    const last = this.#file;
    this.#file = next;
    this.#next = undefined;
    this.#offset = 0;
    this.#printer.nextFile();
    await last.handle.close();
  }

  /**
   * Throws when the rest of the log was removed unread. A file that is not full was never rotated, so it was
   * the last one.
   */
  async #requireWhole(): Promise<void> {
    const { maxBytes } = this.#files;
    if ((await this.#file.handle.stat()).size < maxBytes) return;
    throw new RuntimeError('NotFound', 'the container was removed before its log was read to the end');
  }

  #close(): void {
    this.#change.close();
    // Closing waits for a read in progress.
    for (const file of [this.#file, this.#next]) file?.handle.close().catch(() => undefined);
  }
}
