/**
 * Running another program, as a dependency: what needs nft, ip or tar takes an `Exec`, and its unit test gives it
 * one that records. No shell is ever involved: arguments reach the program as they are.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ExecOptions {
  /** What the program reads from its standard input; without it standard input is empty. */
  readonly input?: string | Uint8Array;
  /** Kills the program (SIGKILL) and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds after which the program is killed; without it the `Exec` decides. */
  readonly timeoutMs?: number;
  /** For a program that may rightly take minutes: it has no limit but `timeoutMs`, and none of the others waits for it. */
  readonly lengthy?: boolean;
  readonly cwd?: string;
  /** Replaces the whole environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when the program ends with status 0; rejects with ExecError when it does anything else. */
export type Exec = (file: string, args: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

export interface ExecFailure extends ExecResult {
  readonly file: string;
  readonly args: readonly string[];
  /** The exit status, or undefined when a signal ended the program or it could not be started. */
  readonly code?: number;
}

/** Its message is one line: the command, how it ended, and the first line it wrote on standard error. */
export class ExecError extends Error {
  override readonly name = 'ExecError';
  readonly failure: ExecFailure;

  constructor(failure: ExecFailure, how: string, cause?: unknown) {
    const said = failure.stderr.trim().split('\n', 1)[0];
    super(`${[failure.file, ...failure.args].join(' ')}: ${how}${said ? `: ${said}` : ''}`, { cause });
    this.failure = failure;
  }
}

/** How a program ended that was killed after so many milliseconds. */
export const timeoutMessage = (limitMs: number) => `did not end within ${limitMs / 1000} s and was killed`;

/** Runs programs of this machine, for as long as they take; output is collected as UTF-8. */
export const systemExec: Exec = (file, args, options = {}) =>
  new Promise((resolve, reject) => {
    const { input, signal, timeoutMs, cwd, env } = options;
    if (signal?.aborted) return reject(signal.reason);
    const stdin = input === undefined ? 'ignore' : readable(input);
    const child = spawn(file, args, {
      cwd,
      env,
      // Ctrl-C at a terminal is for us alone: what a program was in the middle of is not left half done.
      detached: true,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    if (typeof stdin === 'number') closeSync(stdin);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const failed = (how: string, code?: number, cause?: unknown) =>
      new ExecError({ file, args, code, stdout: text(stdout), stderr: text(stderr) }, how, cause);
    const kill = () => killGroup(child);
    let late = false;
    const timer =
      timeoutMs &&
      setTimeout(() => {
        late = true;
        kill();
      }, timeoutMs);
    signal?.addEventListener('abort', kill, { once: true });
    const forget = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
    };
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', (error: NodeJS.ErrnoException) => {
      forget();
      const how = error.code === 'ENOENT' ? 'not found; install it or correct PATH' : error.message;
      reject(failed(how, undefined, error));
    });
    child.on('close', (code, killedBy) => {
      forget();
      if (code === 0) resolve({ stdout: text(stdout), stderr: text(stderr) });
      else if (signal?.aborted) reject(signal.reason);
      else if (late) reject(failed(timeoutMessage(timeoutMs ?? 0)));
      else if (killedBy !== null) reject(failed(`killed by ${killedBy}`));
      else reject(failed(`exit status ${code}`, code ?? undefined));
    });
  });

/** Ends a program that leads a group of its own, and what it started. */
export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * A file descriptor that reads `input`, of a file without a name. Not a pipe: what Node calls one is a socket, from
 * which nft 1.0.9 (Ubuntu 24.04) refuses to read.
 */
function readable(input: string | Uint8Array): number {
  // In memory where there is such a place: rules have to reach the kernel on a full disk too.
  const directory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const path = join(directory, `minik8s-${randomUUID()}`);
  try {
    writeFileSync(path, input, { flag: 'wx', mode: 0o600 });
    return openSync(path, 'r');
  } finally {
    rmSync(path, { force: true });
  }
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
