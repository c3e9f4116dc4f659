/**
 * Frequent execution of small programs from a large process. Starting a program copies the page tables of the
 * parent: 7 ms of CPU time for a process of 150 MB, during which the process is blocked, longer on a busy
 * machine. Therefore a resident shell starts the programs, which costs 0.2 ms.
 */
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import {
  type Exec,
  ExecError,
  type ExecOptions,
  type ExecResult,
  systemExec,
  timeoutMessage,
} from './exec.ts';
import { Shell } from './shell.ts';

export interface ResidentShellOptions {
  readonly clock: Clock;
  /** Timeout in milliseconds for programs without a `timeoutMs` of their own. */
  readonly limitMs?: number;
}

/**
 * Maximum input through the shell, which reads it one character at a time; longer input is passed in a file.
 */
const maxInput = 64 * 1024;
/**
 * Time after which a program counts as slow: it continues in its own shell, and another shell runs the
 * waiting programs.
 */
const patienceMs = 1_000;
/** Maximum number of shells, in case all programs hang. */
const maxShells = 8;

/** A waiting or running program. Two with the same `turn` never run at the same time. */
export interface Turn {
  readonly turn: string;
  /** True if the program has run so long that others no longer wait for it. */
  slow: boolean;
}

/**
 * Returns the waiting program that may start now; undefined for none. Programs start in order, except for
 * those whose turn is taken.
 */
export function nextToStart<T extends Turn>(
  waiting: readonly T[],
  running: ReadonlySet<Turn>,
): T | undefined {
  const others = [...running];
  if (others.length >= maxShells || others.some(({ slow }) => !slow)) return undefined;
  return waiting.find(({ turn }) => others.every((other) => other.turn !== turn));
}

/**
 * Returns the turn of a program. nsenter works in one pod's network and rm in one directory, independent of
 * other calls; all other programs change state of the whole machine.
 */
export function turnOf(file: string, args: readonly string[]): string {
  if (file === 'nsenter') return `${file} ${args[0]}`;
  if (file === 'rm') return `${file} ${args.at(-1)}`;
  return file;
}

interface Work extends Turn {
  readonly run: () => Promise<unknown>;
}

/**
 * Returns an `Exec` for short programs, which run one after the other. A program that hangs is killed after
 * its timeout, and meanwhile blocks only the same program: nft never runs twice at a time. The shell starts
 * with the first program, restarts after it was killed, and ends with this process in any case. Lengthy
 * programs run in separate shells.
 */
export function residentShell({ clock, limitMs = 30_000 }: ResidentShellOptions): Exec {
  const usual = new ProgramQueue(clock, limitMs);
  const lengthy = new ProgramQueue(clock, undefined);
  return (file, args, options) => (options?.lengthy ? lengthy : usual).exec(file, args, options);
}

/** A queue of programs. Without a limit, programs have no default timeout. */
class ProgramQueue {
  readonly #clock: Clock;
  readonly #usualLimitMs: number | undefined;
  readonly #waiting: Work[] = [];
  readonly #running = new Set<Work>();
  /** The resident shell, unless a program runs in it. */
  readonly #idle: Shell[] = [];

  constructor(clock: Clock, usualLimitMs: number | undefined) {
    this.#clock = clock;
    this.#usualLimitMs = usualLimitMs;
  }

  exec(file: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    return new Promise<ExecResult>((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted) return reject(signal.reason);
      const run = () => {
        forget?.();
        return this.#limited(file, args, options).then(resolve, reject);
      };
      const work: Work = { turn: turnOf(file, args), slow: false, run };
      this.#waiting.push(work);
      const forget = signal && onAbort(signal, () => this.#leave(work, () => reject(signal.reason)));
      this.#startNext();
    });
  }

  #startNext(): void {
    for (
      let work = nextToStart(this.#waiting, this.#running);
      work;
      work = nextToStart(this.#waiting, this.#running)
    ) {
      this.#waiting.splice(this.#waiting.indexOf(work), 1);
      void this.#take(work);
    }
  }

  async #take(work: Work): Promise<void> {
    this.#running.add(work);
    const patience = this.#clock.after(patienceMs, () => {
      work.slow = true;
      this.#startNext();
    });
    await work.run();
    patience.cancel();
    this.#running.delete(work);
    this.#startNext();
  }

  /** Removes a program that is still waiting. */
  #leave(work: Work, left: () => void): void {
    const index = this.#waiting.indexOf(work);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    left();
  }

  async #limited(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    const { input, cwd, env, timeoutMs = this.#usualLimitMs } = options;
    const late = new AbortController();
    const timer =
      timeoutMs !== undefined &&
      this.#clock.after(timeoutMs, () => {
        late.abort(new ExecError({ file, args, stdout: '', stderr: '' }, timeoutMessage(timeoutMs)));
      });
    const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
    try {
      const own = cwd !== undefined || env !== undefined;
      if (own || input instanceof Uint8Array || (input !== undefined && input.length > maxInput)) {
        return await systemExec(file, args, { ...options, timeoutMs: undefined, signal });
      }
      return await this.#inShell(file, args, input, signal);
    } finally {
      if (timer) timer.cancel();
    }
  }

  async #inShell(
    file: string,
    args: readonly string[],
    input: string | undefined,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const kept = this.#idle.pop();
    const shell = kept?.alive ? kept : new Shell();
    try {
      return await shell.run({ file, args, input, signal });
    } finally {
      if (this.#idle.length > 0) shell.kill();
      else if (shell.alive) this.#idle.push(shell);
    }
  }
}
