/** Log files that are written and rotated as Docker does. */
import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export class Engine {
  readonly path: string;
  readonly #maxFiles: number;
  readonly #end = Promise.withResolvers<void>();

  constructor(folder: string, maxFiles = 3) {
    this.path = join(folder, 'x-json.log');
    this.#maxFiles = maxFiles;
    writeFileSync(this.path, '');
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  write(text: string, { stream = 'stdout', time = '2026-01-02T03:04:05.1234Z' } = {}): void {
    appendFileSync(this.path, `${JSON.stringify({ log: text, stream, time })}\n`);
  }

  lines(from: number, to: number): void {
    for (let number = from; number < to; number++) this.write(`${number}\n`);
  }

  /** Rotates the files in the engine's order (moby, daemon/logger/loggerutils/logfile.go). */
  rotate(): void {
    this.beginRotation();
    writeFileSync(this.path, '');
  }

  beginRotation(): void {
    const last = this.#maxFiles - 1;
    rmSync(`${this.path}.${last}`, { force: true });
    for (let number = last; number > 1; number--)
      if (existsSync(`${this.path}.${number - 1}`))
        renameSync(`${this.path}.${number - 1}`, `${this.path}.${number}`);
    renameSync(this.path, `${this.path}.1`);
  }

  end(): void {
    this.#end.resolve();
  }

  goAway(): void {
    this.#end.reject(new Error('the engine is gone'));
  }
}

/** Returns the numbers as lines, as `Engine.lines` writes them. */
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}\n`).join('');

/** Returns the number of files of a folder that this process has open. */
export async function openFilesBelow(folder: string): Promise<number> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((target) => target.startsWith(folder)).length;
}
