/** Errors as kubectl words them. */
import { isRecord, type JsonObject } from '../apimachinery/equality.ts';
import { StatusError } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';
import { wrap } from '../base/usage-page.ts';
import { recordsAt, textAt } from './objects.ts';

/**
 * `Error from server (NotFound): pods "x" not found`, or `error: …` for what did not come from the server: one line. Of
 * an object with several faults each has a line of its own, after `The Pod "x" is invalid: `. With `columns`, those of
 * a terminal, lines are broken between words.
 */
export function errorText(error: unknown, columns?: number): string {
  const lines = linesOf(error);
  if (columns === undefined) return lines.join('\n');
  // Continuation lines are indented.
  const broken = lines.flatMap((line) =>
    wrap(line, Math.max(columns - 2, 20)).map((part, index) => (index === 0 ? part : `  ${part}`)),
  );
  return broken.join('\n');
}

function linesOf(error: unknown): string[] {
  if (error instanceof StatusError) {
    const { reason, details } = error.status;
    if (reason === 'Invalid' && isRecord(details)) return invalidLines(details);
    return [`Error from server${reason ? ` (${reason})` : ''}: ${oneLine(error.message)}`];
  }
  const message = errorMessage(error);
  return [message.startsWith('error: ') ? message : `error: ${message}`];
}

/** Whether the server has said it, or an error that was made of what it said. */
export const isOfServer = (error: unknown): boolean =>
  error instanceof StatusError || (error instanceof Error && isOfServer(error.cause));

/** What kubectl prints for the reason Invalid: the causes, each once. */
function invalidLines(details: JsonObject): string[] {
  const [kind, name] = [textAt(details, 'kind'), textAt(details, 'name')];
  const head = kind || name ? `The ${kind} ${JSON.stringify(name)} is invalid` : 'The request is invalid';
  const causes = recordsAt(details, 'causes').map((cause) => {
    return `${textAt(cause, 'field')}: ${oneLine(textAt(cause, 'message'))}`;
  });
  const [only, ...more] = new Set(causes);
  if (only === undefined) return [head];
  return more.length === 0
    ? [`${head}: ${only}`]
    : [`${head}: `, ...[only, ...more].map((cause) => `* ${cause}`)];
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

/** Printed like any other error; the command ends with this exit status. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
