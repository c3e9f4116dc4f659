/**
 * Ends one minik8s and waits until it has ended. It never kills: a process gets SIGINT, and time. After
 * SIGTERM, which is also that of a restart, a master lets new connections wait for the next one.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Exec } from '../../os/exec.ts';
import { beginWork, type Progress } from '../../terminal/live-lines.ts';
import { type OwnProcess, stillRuns } from '../running/processes.ts';

/** Interval of the looks at the process, in milliseconds: the kernel reports the end of children only. */
const lookMs = 50;

export interface StopOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly progress: Progress | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** True if systemd has started the process: it would start the process again after a signal. */
  readonly isOfSystemd: boolean;
}

/** Resolves to false if the process still runs after the timeout. Rejects if it cannot be asked to stop. */
export async function stopProcess(found: OwnProcess, options: StopOptions): Promise<boolean> {
  const { exec, clock, progress, timeoutMs, signal, isOfSystemd } = options;
  const until = clock.monotonic() + timeoutMs;
  using work = beginWork(progress, `minik8s ${found.role} to stop (process ${found.pid})`);
  work.say(isOfSystemd ? `systemctl stop ${found.unit}` : 'it ends its connections and writes what is left');
  if (isOfSystemd) await exec('systemctl', ['stop', '--no-block', found.unit ?? ''], { signal });
  // Checked right before the signal: the id may have been given to another process since.
  else if (stillRuns(found)) process.kill(found.pid, 'SIGINT');
  while (stillRuns(found)) {
    if (clock.monotonic() >= until) return false;
    await sleep(clock, lookMs, signal);
  }
  return true;
}
