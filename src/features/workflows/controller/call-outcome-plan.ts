/** Converts the outcome of a function call to the outcome of its task. Pure. */

import type { Json } from '../../../states-language/json.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import type { CallOutcome } from '../../functions/api/placed-calls.ts';

type Answered = Extract<CallOutcome, { type: 'answered' }>;

/** Maximum characters of an answer that is not JSON and becomes the cause of an error. */
const maxCause = 4096;

/** Names of call errors that are not errors of the function itself. */
export const callErrors = {
  lost: 'Function.Lost',
  notFound: 'Function.NotFound',
  unavailable: 'Function.Unavailable',
  /** The function answered with a status other than success, without an error of its own. */
  status: 'Function.Status',
} as const;

/** Returns the event, or undefined for an outcome after which the task continues. */
export function eventOf(id: string, outcome: CallOutcome): RunEvent | undefined {
  switch (outcome.type) {
    case 'answered':
      return answered(id, outcome);
    case 'lost':
      return failed(
        id,
        callErrors.lost,
        `${outcome.why}: the call may have been made, and is not made again`,
      );
    case 'late':
      return failed(id, 'States.Timeout', outcome.why);
    default:
      return undefined;
  }
}

export const failed = (id: string, error: string, cause: string): RunEvent => ({
  type: 'TaskFailed',
  id,
  error,
  cause,
});

function answered(id: string, { status, error, isJson, body }: Answered): RunEvent {
  const text = body.toString('utf8');
  if (error !== undefined) return failed(id, error, messageOf(text, error));
  if (status < 200 || status > 299) {
    const cause = `the function answered with the status ${status}: ${text}`;
    return failed(id, callErrors.status, cause.slice(0, maxCause));
  }
  return { type: 'TaskSucceeded', id, output: outputOf(text, isJson) };
}

/** Returns the parsed JSON, or the text as it is. */
function outputOf(text: string, isJson: boolean): Json {
  if (text === '') return null;
  if (!isJson) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Returns the message of an error. Runtimes answer {"error": "TYPE: MESSAGE"}. */
function messageOf(text: string, error: string): string {
  let message: unknown;
  try {
    message = (JSON.parse(text) as { error?: unknown } | null)?.error;
  } catch {
    // The text is not JSON and is used as it is.
  }
  const cause = typeof message === 'string' ? message : text;
  return (cause.startsWith(`${error}: `) ? cause.slice(error.length + 2) : cause).slice(0, maxCause);
}
