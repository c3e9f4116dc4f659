/** The log of one build: a file of bounded size, and its end in memory. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseFunctionImage } from '../api/function-image.ts';
import { cleanLine, lastLines, tailOf } from './plan/build-output.ts';

const maxBytes = 1024 * 1024;
/** Bytes of the log's end that are kept while it grows. */
const endBytes = 64 * 1024;
const maxLineLength = 4096;

/** Returns the path of the log of an image's newest build; throws for an image that is not of a function. */
export function logPath(dataDir: string, image: string): string {
  const { namespace, name, hash } = parseFunctionImage(image) ?? {};
  if (namespace === undefined) throw new Error(`${image} is not an image of a function`);
  return join(dataDir, 'function-builds', `${namespace}_${name}_${hash}.log`);
}

export class BuildLog {
  #start = '';
  #end = '';
  #size = 0;
  #rest = '';
  readonly #decoder = new TextDecoder();

  /** Adds a line of the builder itself. */
  addLine(line: string): void {
    this.#add(line);
  }

  /** Adds output of a program, in pieces. */
  write(data: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(data, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    // A line that is too long is cut.
    this.#rest = (lines.pop() ?? '').slice(0, maxLineLength);
    for (const line of lines) this.#add(line);
  }

  /** Returns the last lines of the log, about 4 kB. */
  get tail(): string {
    this.#flush();
    return tailOf(this.#end);
  }

  /** Returns the last five lines that are not blank, as a message. */
  get message(): string {
    this.#flush();
    return lastLines(this.#end);
  }

  /** Writes the log in place of an earlier one; only root can read it. */
  async save(path: string): Promise<void> {
    this.#flush();
    const isWhole = this.#size <= maxBytes;
    const text = isWhole
      ? this.#start
      : `${this.#start}… ${this.#size - maxBytes} bytes are left out …\n${this.#end}`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o600 });
  }

  #flush(): void {
    if (this.#rest === '') return;
    this.#add(this.#rest);
    this.#rest = '';
  }

  #add(line: string): void {
    const text = `${cleanLine(line.slice(0, maxLineLength))}\n`;
    this.#size += Buffer.byteLength(text);
    if (this.#size <= maxBytes) this.#start += text;
    this.#end = `${this.#end}${text}`.slice(-endBytes);
  }
}
