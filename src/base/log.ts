/** The logger of every component. Fields are data for the reader: never secrets, never whole objects. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** True if debug lines are written: lets callers skip expensive messages. Default: false. */
  readonly hasDebug?: boolean;
  /** Returns a logger that adds `component` to every line. */
  named(component: string): Logger;
}

/** Discards everything; for tests that do not check the log. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  named: () => silentLogger,
};

/** Returns the message of anything thrown, with its causes, in one line. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : errorMessage(error.cause);
  const message = error.message.replaceAll('\n', ' ');
  // A wrapping error often repeats the message of its cause.
  return cause === '' || message.includes(cause) ? message : `${message}: ${cause}`;
}
