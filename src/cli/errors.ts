/** Error messages in kubectl's words. */
import { isRecord, type JsonObject } from '../apimachinery/equality.ts';
import { StatusError } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';
import { wrap } from '../terminal/usage-page.ts';
import { recordsAt, textAt } from './objects/objects.ts';

/**
 * Returns the message of an error: one line such as `Error from server (NotFound): pods "x" not found`, or
 * `error: …` for an error that is not from the server. An object with several faults has one line for each,
 * after `The Pod "x" is invalid: `. With `columns`, the width of a terminal, lines are broken between words.
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
  if (error instanceof FaultsError)
    return [`error: ${error.message}:`, ...error.faults.map((fault) => `* ${fault}`)];
  const message = errorMessage(error);
  return [message.startsWith('error: ') ? message : `error: ${message}`];
}

/** Returns true for an error of the server, or one that was caused by such an error. */
export const isOfServer = (error: unknown): boolean =>
  error instanceof StatusError || (error instanceof Error && isOfServer(error.cause));

/** Returns kubectl's lines for the reason Invalid: each cause once. */
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

/** Returns the same error with the operation in front: `error when creating "web.yaml": …`. */
export function inContext(error: unknown, doing: string): unknown {
  if (error instanceof StatusError)
    return new StatusError({ ...error.status, message: `${doing}: ${error.message}` });
  return new Error(doing, { cause: error });
}

/** Does the work; an error gets the operation in front, as by inContext. */
export async function doing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw inContext(error, what);
  }
}

/** Something read from a file has several faults, each of which is printed on a line of its own. */
export class FaultsError extends Error {
  override readonly name = 'FaultsError';
  readonly faults: readonly string[];

  /** `message` says what is invalid, without the faults and without a colon. */
  constructor(message: string, faults: readonly string[]) {
    super(message);
    this.faults = faults;
  }
}

/** The errors of the command have already been reported: only the exit status is left to set. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
}

/** An error that is printed like any other, and ends the command with this exit status. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
