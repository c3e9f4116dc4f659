/** Requests to end `ctl` before its work is done: signals, and a reader of its output that disconnects. */
import { type SignalSource, signalStatus, stoppedBy, stopReason } from '../base/abort.ts';

/** Reason of a command that is aborted because the reader of its output has disconnected. */
const readerGone = new DOMException('the reader of the output has disconnected', 'AbortError');

/**
 * Returns the exit status of a command that `signal` has stopped: that of a program that the same signal of
 * the operating system has ended. Undefined if the command ends as usual, since only the reader of its output
 * has disconnected.
 */
export const stoppedStatus = (signal: AbortSignal): number | undefined =>
  signal.reason === readerGone ? undefined : signalStatus(stoppedBy(signal) ?? 'SIGINT');

export interface StopRequests {
  /** Aborts on the first request. */
  readonly signal: AbortSignal;
  /** Ends the command without an error, since nobody reads its output any more. */
  readerGone(): void;
  /**
   * Runs `work`, during which another program uses the terminal of this one: Ctrl-C, which both programs get,
   * is then left to the other program. SIGTERM and SIGHUP still end this one.
   */
  lendTerminal<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Returns the requests to end this process. The first one aborts the signal, so that the command can clean
 * up; a second Ctrl-C or SIGTERM ends the process at once. A second SIGHUP does not: when a terminal is
 * closed, both the shell and the kernel send one. Must be called once per process.
 */
export function stopRequests(source: SignalSource = process): StopRequests {
  const controller = new AbortController();
  const { signal } = controller;
  let borrowers = 0;
  source.on('SIGINT', (name) => {
    if (borrowers > 0) return;
    if (signal.aborted) source.exit(signalStatus(name));
    else controller.abort(stopReason(name));
  });
  source.on('SIGTERM', (name) => {
    if (signal.aborted) source.exit(signalStatus(name));
    else controller.abort(stopReason(name));
  });
  source.on('SIGHUP', (name) => controller.abort(stopReason(name)));
  return {
    signal,
    readerGone: () => controller.abort(readerGone),
    async lendTerminal(work) {
      borrowers++;
      try {
        return await work();
      } finally {
        borrowers--;
      }
    },
  };
}
