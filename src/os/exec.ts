/**
 * Execution of other programs, as a dependency: code that needs nft, ip or tar takes an `Exec`, and its unit
 * test passes one that records. No shell is involved: arguments reach the program unchanged.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ExecOptions {
  /** Standard input of the program; default: empty. */
  readonly input?: string | Uint8Array;
  /** Kills the program (SIGKILL) on abort and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Timeout in milliseconds, after which the program is killed; the default depends on the `Exec`. */
  readonly timeoutMs?: number;
  /**
   * Set for a program that may take minutes: its only timeout is `timeoutMs`, and other programs do not wait
   * for it.
   */
  readonly lengthy?: boolean;
  readonly cwd?: string;
  /** The whole environment of the program; default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when the program ends with status 0; rejects with ExecError otherwise. */
export type Exec = (file: string, args: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

export interface ExecFailure extends ExecResult {
  readonly file: string;
  readonly args: readonly string[];
  /** Exit status; undefined when a signal ended the program or it could not be started. */
  readonly code?: number;
}

/**
 * Error of a program. The message is one line: the command, how it ended, and the first line of its standard
 * error.
 */
export class ExecError extends Error {
  override readonly name = 'ExecError';
  readonly failure: ExecFailure;

  constructor(failure: ExecFailure, how: string, cause?: unknown) {
    const firstLine = failure.stderr.trim().split('\n', 1)[0];
    super(`${[failure.file, ...failure.args].join(' ')}: ${how}${firstLine ? `: ${firstLine}` : ''}`, {
      cause,
    });
    this.failure = failure;
  }
}

/** Returns the message for a program that was killed after a timeout. */
export const timeoutMessage = (limitMs: number) => `did not end within ${limitMs / 1000} s and was killed`;

/** Runs programs of this machine without a default timeout; output is collected as UTF-8. */
export const systemExec: Exec = (file, args, options = {}) =>
  new Promise((resolve, reject) => {
    const { input, signal, timeoutMs, cwd, env } = options;
    if (signal?.aborted) return reject(signal.reason);
    const stdin = input === undefined ? 'ignore' : readable(input);
    const child = spawn(file, args, {
      cwd,
      env,
      // A separate process group keeps Ctrl-C from the program, which would otherwise stop half-way.
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
      if (code === 0) return resolve({ stdout: text(stdout), stderr: text(stderr) });
      const [how, status] = late ? [timeoutMessage(timeoutMs ?? 0)] : howEnded(code, killedBy);
      reject(signal?.aborted ? signal.reason : failed(how, status));
    });
  });

/** Returns the text of the error, and the exit status if there is one. */
const howEnded = (code: number | null, killedBy: string | null): [how: string, code?: number] =>
  code === null || killedBy !== null ? [`killed by ${killedBy}`] : [`exit status ${code}`, code];

/** Kills a program that leads its own process group, and the processes that it started. */
export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Returns a file descriptor of an unnamed file that holds `input`. A pipe does not work: Node's pipes are
 * sockets, from which nft 1.0.9 (Ubuntu 24.04) refuses to read.
 */
function readable(input: string | Uint8Array): number {
  // Prefer memory to the disk: rules must reach the kernel even when the disk is full.
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
