/** Errors as kubectl words them, each in one line. */
import { StatusError } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';

/** `Error from server (NotFound): pods "x" not found`, or `error: …` for what did not come from the server. */
export function errorLine(error: unknown): string {
  if (error instanceof StatusError) {
    const { reason } = error.status;
    return `Error from server${reason ? ` (${reason})` : ''}: ${oneLine(error.message)}`;
  }
  const message = errorMessage(error);
  return message.startsWith('error: ') ? message : `error: ${message}`;
}

const oneLine = (text: string) => text.replaceAll(/\s*\n\s*/g, ' ');

/** The same error, saying what was being done: `error when creating "web.yaml": …`. */
export function inContext(error: unknown, doing: string): unknown {
  if (error instanceof StatusError)
    return new StatusError({ ...error.status, message: `${doing}: ${error.message}` });
  return new Error(doing, { cause: error });
}

/** Several things went wrong and have been reported one by one: only the exit status is left to set. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
}

/** Is told like any other; the command ends with a status of its own. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
