/**
 * A log file with bounds. Once it is full or old, the last of `PATH.1`, `PATH.2`, … is removed, the others
 * get the next number, the highest first, and `PATH` becomes `PATH.1`. Each line is written at once, so it is
 * in exactly one file.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';

export interface RotationBounds {
  /** Size in bytes beyond which no line is added to a file. */
  readonly maxBytes: number;
  /**
   * Age in milliseconds. A file whose first line is older is rotated; rotated files that were last written
   * before are removed at the next rotation.
   */
  readonly maxAgeMs: number;
  /** Maximum number of rotated files. */
  readonly maxBackups: number;
}

export interface RotatingFileOptions extends RotationBounds {
  readonly path: string;
  readonly clock: Clock;
  /** Returns a line that reports lines which could not be written, with its line end. */
  readonly lostLine: (count: number, reason: string) => string;
}

/** Interval in milliseconds at which the file is checked: its age, and whether another file has its name. */
const checkMs = 1_000;

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #descriptor: number;
  #size = 0;
  #inode = 0n;
  /** Milliseconds since the epoch. */
  #firstLineAt = 0;
  #checkedAt: number;
  /** True if the last write ended within a line. */
  #isTorn = false;
  #lost = 0;
  #lostReason = '';
  /** Set after a rotation that failed, until the next check. */
  #isStuck = false;

  /** Opens or creates the file; throws the error of the system if it cannot be written. */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    this.#descriptor = openForAppend(options.path);
    this.#adopt(this.#descriptor);
    this.#checkedAt = options.clock.monotonic();
  }

  /** Writes one line, with its line end. Never throws: lines that cannot be written are counted. */
  write(line: string): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#checkedAt >= checkMs) {
      this.#checkedAt = now;
      this.#isStuck = false;
      this.#check();
    }
    const bytes = Buffer.from(line);
    const isFull = this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes;
    if (isFull && !this.#isStuck) this.#rotate();
    this.#reportLost();
    if (this.#lost > 0 || !this.#append(bytes)) this.#lost++;
  }

  close(): void {
    this.#reportLost();
    closeSync(this.#descriptor);
  }

  #reportLost(): void {
    if (this.#lost === 0) return;
    const note = this.#options.lostLine(this.#lost, this.#lostReason);
    if (this.#append(Buffer.from(note))) this.#lost = 0;
  }

  /** Returns false if the line is not in the file as a whole. */
  #append(line: Uint8Array): boolean {
    const bytes = this.#isTorn ? Buffer.concat([Buffer.from('\n'), line]) : line;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written);
      this.#isTorn = false;
      return true;
    } catch (error) {
      if (written > 0) this.#isTorn = true;
      this.#lostReason = errorMessage(error);
      return false;
    } finally {
      this.#size += written;
    }
  }

  /** Opens the file anew if its name is gone or leads to another file, and rotates it if it is too old. */
  #check(): void {
    const there = statSync(this.#options.path, { bigint: true, throwIfNoEntry: false });
    if (there?.ino !== this.#inode) this.#reopen();
    else if (this.#size > 0 && this.#options.clock.now() - this.#firstLineAt > this.#options.maxAgeMs)
      this.#rotate();
  }

  #rotate(): void {
    const { path, maxBackups } = this.#options;
    try {
      this.#removeBackups();
      for (let number = maxBackups - 1; number >= 1; number--)
        if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
      if (maxBackups > 0) renameSync(path, `${path}.1`);
      else rmSync(path);
    } catch (error) {
      this.#isStuck = true;
      this.#lostReason = errorMessage(error);
      return;
    }
    this.#reopen();
  }

  /** Removes the backups beyond the number that is kept after a rotation, and those that are too old. */
  #removeBackups(): void {
    const { path, maxBackups, maxAgeMs, clock } = this.#options;
    for (const number of backupsOf(path)) {
      const file = `${path}.${number}`;
      const isOld = clock.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > maxAgeMs;
      if (number >= maxBackups || isOld) rmSync(file, { force: true });
    }
  }

  /** The former file stays open if the new one cannot be made. */
  #reopen(): void {
    try {
      const descriptor = openForAppend(this.#options.path);
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
      this.#adopt(descriptor);
    } catch (error) {
      this.#isStuck = true;
      this.#lostReason = errorMessage(error);
    }
  }

  #adopt(descriptor: number): void {
    const { ino, size, mtimeMs } = fstatSync(descriptor, { bigint: true });
    this.#inode = ino;
    this.#size = Number(size);
    this.#isTorn = size > 0n && !endsLine(descriptor, this.#size);
    this.#firstLineAt =
      size > 0n ? (firstTimeIn(beginningOf(descriptor)) ?? Number(mtimeMs)) : this.#options.clock.now();
  }
}

/** Returns the numbers of the rotated files of `path`, in ascending order. */
export function backupsOf(path: string): readonly number[] {
  const head = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(head) && /^[1-9]\d{0,5}$/.test(name.slice(head.length)))
    .map((name) => Number(name.slice(head.length)))
    .sort((a, b) => a - b);
}

const openForAppend = (path: string) => openSync(join(path), 'a+', 0o600);

function beginningOf(descriptor: number): string {
  const bytes = Buffer.alloc(128);
  return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
}

function endsLine(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

/** Returns the first time in a text, in milliseconds since the epoch; undefined if it has none. */
export function firstTimeIn(text: string): number | undefined {
  const [time] = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/.exec(text) ?? [];
  return time === undefined ? undefined : Date.parse(time);
}
