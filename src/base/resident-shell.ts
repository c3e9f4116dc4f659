/**
 * Running small programs often, from a large process. Starting one copies the page tables of who starts it: 7 ms of processor
 * for a process of 150 MB, and as long, or longer where others want the processor, nothing else happens in it. So a shell that
 * stays starts them, which costs 0.2 ms.
 */
import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';
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
  /** Milliseconds after which a program is killed that was given no `timeoutMs` of its own. */
  readonly limitMs?: number;
}

/** More goes by way of a file: a shell reads what it passes on a character at a time. */
const mostInput = 64 * 1024;
/** A program that takes longer runs on in its own shell, while another shell runs what waits behind it. */
const patienceMs = 1_000;
/** So that programs that all hang do not become too many. */
const mostShells = 8;

/** What waits or runs. Two with the same `turn` never run at the same time. */
export interface Turn {
  readonly turn: string;
  /** Whether it has run for longer than others wait. */
  slow: boolean;
}

/** Which of those that wait may start now; undefined for none. They start in order, but for those whose turn is taken. */
export function nextToStart<T extends Turn>(
  waiting: readonly T[],
  running: ReadonlySet<Turn>,
): T | undefined {
  const others = [...running];
  if (others.length >= mostShells || others.some(({ slow }) => !slow)) return undefined;
  return waiting.find(({ turn }) => others.every((other) => other.turn !== turn));
}

/**
 * nsenter works in one pod's network and rm in one directory, which is nothing to the others; all else changes what the
 * whole machine shares.
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
 * For programs that take a moment; they run one after the other. One that does not end is killed after its time limit, and holds
 * up only the same program: nft never runs twice at a time. The shell starts with the first of them, again after it was
 * killed, and ends with this process, however that ends. Lengthy programs have shells beside these.
 */
export function residentShell({ clock, limitMs = 30_000 }: ResidentShellOptions): Exec {
  const usual = queue(clock, limitMs);
  const lengthy = queue(clock, undefined);
  return (file, args, options) => (options?.lengthy ? lengthy : usual)(file, args, options);
}

/** Programs that wait for each other. Without a limit each may take as long as it likes. */
function queue(clock: Clock, usualLimitMs: number | undefined): Exec {
  const waiting: Work[] = [];
  const running = new Set<Work>();
  /** The resident shell, unless a program runs in it. */
  const idle: Shell[] = [];

  function startNext(): void {
    for (let work = nextToStart(waiting, running); work; work = nextToStart(waiting, running)) {
      waiting.splice(waiting.indexOf(work), 1);
      void take(work);
    }
  }

  async function take(work: Work): Promise<void> {
    running.add(work);
    const patience = clock.after(patienceMs, () => {
      work.slow = true;
      startNext();
    });
    await work.run();
    patience.cancel();
    running.delete(work);
    startNext();
  }

  async function inShell(
    file: string,
    args: readonly string[],
    input: string | undefined,
    signal: AbortSignal,
  ) {
    const kept = idle.pop();
    const shell = kept?.alive ? kept : new Shell();
    try {
      return await shell.run({ file, args, input, signal });
    } finally {
      if (idle.length > 0) shell.kill();
      else if (shell.alive) idle.push(shell);
    }
  }

  async function limited(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    const { input, cwd, env, timeoutMs = usualLimitMs } = options;
    const late = new AbortController();
    const timer =
      timeoutMs !== undefined &&
      clock.after(timeoutMs, () => {
        late.abort(new ExecError({ file, args, stdout: '', stderr: '' }, timeoutMessage(timeoutMs)));
      });
    const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
    try {
      const own = cwd !== undefined || env !== undefined;
      if (own || input instanceof Uint8Array || (input !== undefined && input.length > mostInput)) {
        return await systemExec(file, args, { ...options, timeoutMs: undefined, signal });
      }
      return await inShell(file, args, input, signal);
    } finally {
      if (timer) timer.cancel();
    }
  }

  return (file, args, options = {}) =>
    new Promise<ExecResult>((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted) return reject(signal.reason);
      const run = () => {
        forget?.();
        return limited(file, args, options).then(resolve, reject);
      };
      const work: Work = { turn: turnOf(file, args), slow: false, run };
      waiting.push(work);
      const forget = signal && onAbort(signal, () => leave(work, () => reject(signal.reason)));
      startNext();
    });

  /** Removes a program that is still waiting. */
  function leave(work: Work, left: () => void): void {
    const index = waiting.indexOf(work);
    if (index < 0) return;
    waiting.splice(index, 1);
    left();
  }
}
