/**
 * Notices to the service manager that started this process (sd_notify(3)): ready, and alive. A process that
 * no service manager started sends none. Node has no datagram sockets of the Unix domain, so
 * systemd-notify(1) sends the notices. OpenRC gets none: its script waits for a file with the status line.
 */
import { rmSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import type { Exec } from './exec.ts';
import { replaceFile } from './replace-file.ts';

export interface ServiceManager {
  /**
   * Sends the notice that the service is ready, with a status line for `systemctl status`. Call it again to
   * change the line. Never rejects.
   */
  ready(status: string): Promise<void>;
}

export interface ServiceManagerOptions {
  /**
   * NOTIFY_SOCKET, WATCHDOG_USEC and SERVICE_READY_FILE are read from it, and removed, so that no child
   * process has them.
   */
  readonly environment: Record<string, string | undefined>;
  readonly exec: Exec;
  readonly clock: Clock;
  /** Called with an error if a notice could not be sent. */
  readonly onError: (error: unknown) => void;
  /** Ends the notices of the watchdog. */
  readonly signal: AbortSignal;
}

const noServiceManager: ServiceManager = { ready: () => Promise.resolve() };

/** Number of notices within the time after which the watchdog ends a process. */
const noticesPerTimeout = 3;

/**
 * Opens the connection. From the first `ready` on, notices that the process is alive are sent from its event
 * loop, so that the service manager restarts a process whose event loop stands still. Each repeats that the
 * service is ready, in case that the first notice was lost.
 */
export function openServiceManager(options: ServiceManagerOptions): ServiceManager {
  const { environment, exec, clock, onError, signal } = options;
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog, SERVICE_READY_FILE: file } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'SERVICE_READY_FILE'])
    delete environment[name];
  if (file) return statusFile(file, onError);
  if (!socket) return noServiceManager;
  const send = async (...notices: string[]) => {
    try {
      const env = { PATH: environment.PATH, NOTIFY_SOCKET: socket };
      await exec('systemd-notify', notices, { env, timeoutMs: sendTimeoutMs });
    } catch (error) {
      onError(error);
    }
  };
  const periodMs = Number(watchdog ?? 0) / 1000 / noticesPerTimeout;
  let isWatched = false;
  return {
    async ready(status) {
      await send('READY=1', `STATUS=${status}`);
      if (isWatched || !(periodMs > 0)) return;
      isWatched = true;
      void keepDoing({ clock, signal, restMs: periodMs }, () => send('READY=1', 'WATCHDOG=1'));
    },
  };
}

/** Writes the status line to a file. A file that an earlier process has left is removed. */
function statusFile(path: string, onError: (error: unknown) => void): ServiceManager {
  rmSync(path, { force: true });
  return { ready: (status) => replaceFile(path, `${status}\n`, { mode: 0o644 }).catch(onError) };
}

/** Timeout in milliseconds for one notice. */
const sendTimeoutMs = 10_000;
