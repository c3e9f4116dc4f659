/** Helpers for stopping long-running work with AbortSignals. */

/**
 * Calls `fn` once when the signal aborts, or immediately if it already has. Returns a function that removes
 * the listener.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  if (signal.aborted) {
    fn();
    return () => {};
  }
  signal.addEventListener('abort', fn, { once: true });
  return () => signal.removeEventListener('abort', fn);
}

/** Resolves when the signal aborts; never rejects. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
  });
}

/** Returns the result of the promise; rejects with the signal's reason if the signal aborts first. */
export async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const forget = onAbort(signal, () => reject(signal.reason));
  try {
    return await Promise.race([abort, promise]);
  } finally {
    forget();
  }
}

/** Returns true for an error that only reports an intended abort. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The part of `process` that surviveHangup needs. */
export interface HangupSource {
  on(event: 'SIGHUP', listener: () => void): unknown;
}

/**
 * Keeps a daemon running after its terminal was closed: SIGHUP only calls `notify`. Must be called once per
 * process, and only in a daemon's role: a client ends with its terminal. main.ts drops output that can no
 * longer be written.
 */
export function surviveHangup(notify: () => void, source: HangupSource = process): void {
  source.on('SIGHUP', notify);
}

/** Signals that ask a process to stop. */
export type StopRequest = keyof typeof numbers;

/** The part of `process` that stopSignal needs. */
export interface SignalSource {
  on(event: StopRequest, listener: (name: StopRequest) => void): unknown;
  exit(code: number): unknown;
}

const numbers = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** Returns the exit status of a process that a signal has ended. */
export const signalStatus = (name: StopRequest): number => 128 + numbers[name];

/** Returns the reason with which a signal aborts the work of this process. */
export const stopReason = (name: StopRequest): DOMException =>
  new DOMException(`stopped by ${name}`, 'AbortError');

/**
 * Returns a signal that aborts when the process is asked to stop (Ctrl-C, SIGTERM). On a second request, the
 * process exits at once with 128 plus the signal's number. Must be called once per process: in a role, never
 * in a component.
 */
export function stopSignal(source: SignalSource = process): AbortSignal {
  const controller = new AbortController();
  const stop = (name: StopRequest) => {
    if (controller.signal.aborted) source.exit(signalStatus(name));
    else controller.abort(stopReason(name));
  };
  source.on('SIGINT', stop);
  source.on('SIGTERM', stop);
  return controller.signal;
}

/** Returns which signal has aborted this one; undefined if something else did, or nothing yet. */
export const stoppedBy = ({ reason }: AbortSignal): StopRequest | undefined =>
  (Object.keys(numbers) as StopRequest[]).find(
    (name) => reason instanceof DOMException && reason.message === stopReason(name).message,
  );

/** Returns whether the signal of `stopSignal`, or one that follows it, was aborted by Ctrl-C. */
export const isInterrupted = (signal: AbortSignal): boolean => stoppedBy(signal) === 'SIGINT';
