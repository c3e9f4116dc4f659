/**
 * Running small programs often, from a large process. Starting one copies the page tables of who starts it: 7 ms of processor
 * for a process of 150 MB, and as long, or longer where others want the processor, nothing else happens in it. So a shell that
 * stays starts them, which costs 0.2 ms.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Exec, ExecError, type ExecOptions, type ExecResult, systemExec } from './exec.ts';

type Shell = ChildProcessByStdio<Writable, Readable, Readable>;

/** More goes by way of a file: a shell reads what it passes on a character at a time. */
const mostInput = 64 * 1024;

/**
 * For programs that take a moment; they run one after the other. The shell starts with the first of them, again after
 * it was killed, and ends with this process, however that ends.
 */
export function residentShell(): Exec {
  let shell: Shell | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const current = () => {
    if (shell === undefined || shell.exitCode !== null || shell.signalCode !== null) shell = startShell();
    return shell;
  };
  return (file, args, options = {}) => {
    const { input, cwd, env, signal } = options;
    const own = cwd !== undefined || env !== undefined;
    if (own || input instanceof Uint8Array || (input !== undefined && input.length > mostInput)) {
      return systemExec(file, args, options);
    }
    const result = last.then(() => {
      signal?.throwIfAborted();
      return runIn(current(), file, args, { ...options, input });
    });
    last = result.catch(() => undefined);
    return result;
  };
}

function startShell(): Shell {
  // In a group of its own: Ctrl-C at a terminal is not for what it runs, and a program that hangs is killed with it.
  const shell = spawn('/bin/sh', [], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  // A program that is lost with its shell is told by what waits for it.
  shell.stdin.on('error', () => undefined);
  shell.on('error', () => undefined);
  hold(shell, false);
  return shell;
}

/** Whether this process goes on for the shell's sake. */
function hold(shell: Shell, held: boolean): void {
  const streams = [shell.stdin, shell.stdout, shell.stderr] as unknown as Socket[];
  for (const each of [shell, ...streams]) held ? each.ref() : each.unref();
}

function runIn(
  shell: Shell,
  file: string,
  args: readonly string[],
  { input, signal, timeoutMs }: ExecOptions,
): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    hold(shell, true);
    const mark = randomUUID();
    const out = new Said(shell.stdout, new RegExp(`\\n${mark} (\\d+)\\n$`), settle);
    const err = new Said(shell.stderr, new RegExp(`\\n${mark}\\n$`), settle);
    const failed = (how: string, code?: number) =>
      new ExecError({ file, args, code, stdout: out.text, stderr: err.text }, how);
    let killed = false;
    const kill = () => {
      killed = true;
      killGroup(shell);
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(kill, timeoutMs);
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      shell.off('exit', lost).off('error', lost);
      out.stop();
      err.stop();
      hold(shell, false);
    }
    function lost(): void {
      end();
      killGroup(shell);
      reject(
        signal?.aborted ? signal.reason : failed(`killed by ${shell.signalCode ?? 'the end of its shell'}`),
      );
    }
    function settle(): void {
      if (killed || out.end === undefined || err.end === undefined) return;
      end();
      const code = Number(out.end[1]);
      if (code === 0) resolve({ stdout: out.text, stderr: err.text });
      // As POSIX has it for a command that is not found (XCU 2.8.2).
      else if (code === 127) reject(failed('not found; install it or correct PATH'));
      else reject(failed(`exit status ${code}`, code));
    }
    signal?.addEventListener('abort', kill, { once: true });
    shell.on('exit', lost).on('error', lost);
    const command = [file, ...args].map(quoted).join(' ');
    const source = input === undefined ? '</dev/null' : `<<'${mark}'\n${input}\n${mark}`;
    shell.stdin.write(`${command} ${source}\nprintf '\\n${mark} %d\\n' $?; printf '\\n${mark}\\n' >&2\n`);
  });
}

/** With what runs in it. */
function killGroup({ pid }: Shell): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What a stream of the shell says until a mark. */
class Said {
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

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
