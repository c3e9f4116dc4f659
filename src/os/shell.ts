/** A resident shell that runs programs, one at a time. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { onAbort } from '../base/abort.ts';
import { quoted } from '../base/shell-words.ts';
import { ExecError, type ExecResult, killGroup } from './exec.ts';

/** A program that a shell runs. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly input: string | undefined;
  /** Kills the program and its shell on abort; `run` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** A shell process. It starts with the object and ends with this process in any case. */
export class Shell {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;

  constructor() {
    // A separate process group: Ctrl-C at a terminal does not reach the programs, and a hanging program is
    // killed with the shell.
    const child = spawn('/bin/sh', [], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    // When the shell is lost, the pending `run` rejects.
    child.stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    this.#child = child;
    this.#hold(false);
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Kills the shell and the program in it. */
  kill(): void {
    killGroup(this.#child);
  }

  /**
   * Runs a program. Resolves when it ends with status 0; rejects with ExecError, or with the signal's reason.
   */
  run({ file, args, input, signal }: Command): Promise<ExecResult> {
    const shell = this.#child;
    return new Promise((resolve, reject) => {
      this.#hold(true);
      const mark = randomUUID();
      const out = new MarkedOutput(shell.stdout, new RegExp(`\\n${mark} (\\d+)\\n$`), settle);
      const err = new MarkedOutput(shell.stderr, new RegExp(`\\n${mark}\\n$`), settle);
      const failed = (how: string, code?: number) =>
        new ExecError({ file, args, code, stdout: out.text, stderr: err.text }, how);
      const forget = onAbort(signal, () => this.kill());
      const end = () => {
        forget();
        shell.off('exit', lost).off('error', lost);
        out.stop();
        err.stop();
        this.#hold(false);
      };
      const lost = () => {
        end();
        this.kill();
        reject(
          signal.aborted ? signal.reason : failed(`killed by ${shell.signalCode ?? 'the end of its shell'}`),
        );
      };
      function settle(): void {
        if (signal.aborted || out.end === undefined || err.end === undefined) return;
        end();
        const code = Number(out.end[1]);
        if (code === 0) resolve({ stdout: out.text, stderr: err.text });
        else reject(failedWith(code));
      }
      // Exit status 127 of a POSIX shell is for a command that is not found (XCU 2.8.2).
      const failedWith = (code: number) =>
        code === 127 ? failed('not found; install it or correct PATH') : failed(`exit status ${code}`, code);
      shell.on('exit', lost).on('error', lost);
      const command = [file, ...args].map(quoted).join(' ');
      const source = input === undefined ? '</dev/null' : `<<'${mark}'\n${input}\n${mark}`;
      shell.stdin.write(`${command} ${source}\nprintf '\\n${mark} %d\\n' $?; printf '\\n${mark}\\n' >&2\n`);
    });
  }

  /** Controls if the shell keeps this process alive. */
  #hold(held: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    const streams = [stdin, stdout, stderr] as unknown as Socket[];
    for (const each of [this.#child, ...streams]) held ? each.ref() : each.unref();
  }
}

/** The output of a shell on one stream, up to a mark. */
class MarkedOutput {
  readonly #stream: Readable;
  readonly #mark: RegExp;
  readonly #onEnd: () => void;
  #text = '';
  end: RegExpExecArray | undefined;

  constructor(stream: Readable, mark: RegExp, onEnd: () => void) {
    this.#stream = stream;
    this.#mark = mark;
    this.#onEnd = onEnd;
    stream.setEncoding('utf8').on('data', this.#take);
  }

  readonly #take = (chunk: string): void => {
    this.#text += chunk;
    this.end = this.#mark.exec(this.#text) ?? undefined;
    if (this.end) this.#onEnd();
  };

  get text(): string {
    return this.#text.slice(0, this.end?.index);
  }

  stop(): void {
    this.#stream.off('data', this.#take);
  }
}
