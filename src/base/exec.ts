/**
 * Running another program, as a dependency: what needs nft, ip or tar takes an `Exec`, and its unit test gives it
 * one that records. No shell is ever involved: arguments reach the program as they are.
 */
import { spawn } from 'node:child_process';

export interface ExecOptions {
  /** Written to the program's standard input, which is closed afterwards; without it standard input is empty. */
  readonly input?: string | Uint8Array;
  /** Kills the program (SIGKILL) and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds after which the program is killed; none by default. */
  readonly timeoutMs?: number;
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

/** Runs programs of this machine; output is collected as UTF-8. */
export const systemExec: Exec = (file, args, options = {}) =>
  new Promise((resolve, reject) => {
    const { input, signal, timeoutMs, cwd, env } = options;
    if (signal?.aborted) return reject(signal.reason);
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: 'pipe',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const failed = (how: string, code?: number, cause?: unknown) =>
      new ExecError({ file, args, code, stdout: text(stdout), stderr: text(stderr) }, how, cause);
    const kill = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', kill, { once: true });
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', (error: NodeJS.ErrnoException) => {
      signal?.removeEventListener('abort', kill);
      const how = error.code === 'ENOENT' ? 'not found; install it or correct PATH' : error.message;
      reject(failed(how, undefined, error));
    });
    child.on('close', (code, killedBy) => {
      signal?.removeEventListener('abort', kill);
      if (code === 0) resolve({ stdout: text(stdout), stderr: text(stderr) });
      else if (signal?.aborted) reject(signal.reason);
      else if (killedBy !== null) reject(failed(`killed by ${killedBy}`));
      else reject(failed(`exit status ${code}`, code ?? undefined));
    });
    // A program that ends without reading its input is judged by its exit status, not by the broken pipe.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(failed(error.message, undefined, error));
    });
    child.stdin.end(input);
  });

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
