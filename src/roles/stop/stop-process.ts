/**
 * Ends one minik8s and waits until it has ended. It never kills: the process gets SIGINT and has until the
 * timeout to end. SIGTERM is not used, because a restart sends it too: after SIGTERM a master lets new
 * connections wait for the next start.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { type Service, serviceCommand, serviceWords } from '../../installation/plan/service-manager.ts';
import type { Exec } from '../../os/exec.ts';
import { beginWork, type Progress } from '../../terminal/live-lines.ts';
import { type OwnProcess, stillRuns } from '../running/processes.ts';

/**
 * Interval in milliseconds at which the process is checked: the kernel reports only the end of child
 * processes.
 */
const lookMs = 50;

export interface StopOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly progress: Progress | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Service manager that has started the process: it would start the process again after a signal. */
  readonly service: Service | undefined;
}

/** Resolves to false if the process still runs after the timeout. Rejects if it cannot be asked to stop. */
export async function stopProcess(found: OwnProcess, options: StopOptions): Promise<boolean> {
  const { exec, clock, progress, timeoutMs, signal, service } = options;
  const until = clock.monotonic() + timeoutMs;
  using work = beginWork(progress, `minik8s ${found.role} to stop (process ${found.pid})`);
  work.say(service ? serviceCommand(service, 'stop') : 'it ends its connections and writes what is left');
  if (service) await stopService(exec, service, { timeoutMs, signal });
  // Checked right before the signal: the id may have been given to another process since.
  else if (stillRuns(found)) process.kill(found.pid, 'SIGINT');
  while (stillRuns(found)) {
    if (clock.monotonic() >= until) return false;
    await sleep(clock, lookMs, signal);
  }
  return true;
}

/**
 * Stops the service; with systemd without waiting, so that an abort is noticed. OpenRC has no such option.
 */
async function stopService(
  exec: Exec,
  service: Service,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const [program, ...words] = serviceWords(service, 'stop');
  const isSystemd = service.manager === 'systemd';
  await exec(
    program,
    isSystemd ? [...words, '--no-block'] : words,
    isSystemd ? { signal: options.signal } : options,
  );
}
