/** The logger every component is given. Fields are data for the reader: never secrets, never whole objects. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Whether lines of debug are written: for those that cost much to say. Absent: no. */
  readonly hasDebug?: boolean;
  /** A logger that adds `component` to every line. */
  named(component: string): Logger;
}

/** Discards everything; for tests that assert the world and not the log. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  named: () => silentLogger,
};

/** The message of anything thrown, with its causes, in one line. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : errorMessage(error.cause);
  const message = error.message.replaceAll('\n', ' ');
  // A wrapping error often repeats the message of its cause.
  return cause === '' || message.includes(cause) ? message : `${message}: ${cause}`;
}
