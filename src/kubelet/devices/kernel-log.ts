/** Follows the kernel's log, from the oldest record that it still has to each new one as it is written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';

export interface KernelLogOptions {
  /** Default /dev/kmsg. */
  readonly path?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once for each record in order, with its first line: PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT. */
  readonly onRecord: (line: string) => void;
}

/**
 * Reads until the signal aborts; never rejects. A read of /dev/kmsg blocks in the kernel until the next
 * record and cannot be cancelled, so another program (cat) does it; that program ends when the log is
 * overwritten while it reads.
 */
export async function followKernelLog(options: KernelLogOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  const backoff = new Backoff({ initialMs: 1000, maxMs: 600_000 });
  let logged: string | undefined;
  let last = -1;
  const take = (line: string) => {
    const [, sequence] = /^\d+,(\d+),/.exec(line) ?? [];
    // A new reader begins with the oldest record again.
    if (sequence === undefined || Number(sequence) <= last) return;
    last = Number(sequence);
    backoff.reset();
    logged = undefined;
    options.onRecord(line);
  };
  await keepDoing({ clock, signal }, async () => {
    const problem = await readOnce(options.path ?? '/dev/kmsg', take, signal);
    if (signal.aborted) return undefined;
    if (problem !== logged)
      log.warn('cannot read the log of the kernel; errors of cards are not noticed until it can be', {
        error: problem,
      });
    logged = problem;
    return backoff.next();
  });
}

/** Resolves with the reason for which the reader ended. */
async function readOnce(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<string> {
  const child = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
  let fault = '';
  child.stderr.on('data', (chunk: Buffer) => {
    fault = (fault + chunk.toString()).slice(0, 500);
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return fault.trim() || `the reader of ${path} has ended with status ${code}`;
  } catch (error) {
    return errorMessage(error);
  }
}
