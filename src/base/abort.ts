/** Stopping long-running work by AbortSignals. */

/** Calls `fn` once when the signal aborts, or now when it already has. Returns a function that undoes this. */
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

/** The result of the promise, or a rejection with the signal's reason when that aborts first. */
export async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const forget = onAbort(signal, () => reject(signal.reason));
  try {
    return await Promise.race([abort, promise]);
  } finally {
    forget();
  }
}

/** Whether an error only says that work was stopped on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The part of `process` that surviveHangup needs. */
export interface HangupSource {
  on(event: 'SIGHUP', listener: () => void): unknown;
}

/**
 * Keeps a daemon running after its terminal was closed: SIGHUP only calls `notify`. Call it once a process, in a role that is a
 * daemon: a client ends with its terminal. Output that has nowhere to go is dropped by main.ts.
 */
export function surviveHangup(notify: () => void, source: HangupSource = process): void {
  source.on('SIGHUP', notify);
}

/** The part of `process` that stopSignal needs. */
export interface SignalSource {
  on(event: 'SIGINT' | 'SIGTERM', listener: (name: 'SIGINT' | 'SIGTERM') => void): unknown;
  exit(code: number): unknown;
}

const numbers = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * A signal that aborts when the process is asked to stop (Ctrl-C, SIGTERM); asked a second time, the process
 * exits at once with 128 and the signal's number. Call it once a process: in a role, never in a component.
 */
export function stopSignal(source: SignalSource = process): AbortSignal {
  const controller = new AbortController();
  const stop = (name: 'SIGINT' | 'SIGTERM') => {
    if (controller.signal.aborted) source.exit(128 + numbers[name]);
    else controller.abort(new DOMException(`stopped by ${name}`, 'AbortError'));
  };
  source.on('SIGINT', stop);
  source.on('SIGTERM', stop);
  return controller.signal;
}
