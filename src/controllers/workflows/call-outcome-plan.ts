/** What a task has come to that is the call of a function. Pure. */
import type { CallOutcome } from '../../base/placed-calls.ts';
import type { Json } from '../../states-language/json.ts';
import type { RunEvent } from '../../states-language/run/advance.ts';

type Answered = Extract<CallOutcome, { type: 'answered' }>;

/** Characters of an answer that is no JSON and becomes the cause of an error. */
const mostCause = 4096;

/** What the errors of calls are called that are not the function's own. */
export const callErrors = {
  lost: 'Function.Lost',
  notFound: 'Function.NotFound',
  unavailable: 'Function.Unavailable',
  /** It answered with a status that means no success, and did not say what went wrong. */
  status: 'Function.Status',
} as const;

/** Undefined for an outcome after which the task goes on. */
export function eventOf(id: string, outcome: CallOutcome): RunEvent | undefined {
  switch (outcome.type) {
    case 'answered':
      return answered(id, outcome);
    case 'lost':
      return failed(id, callErrors.lost, `${outcome.why}: it may have run, and is not run again`);
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
    return failed(id, callErrors.status, cause.slice(0, mostCause));
  }
  return { type: 'TaskSucceeded', id, output: outputOf(text, isJson) };
}

/** JSON, or else the text as it is. */
function outputOf(text: string, isJson: boolean): Json {
  if (text === '') return null;
  if (!isJson) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Runtimes answer {"error": "TYPE: MESSAGE"}. */
function messageOf(text: string, error: string): string {
  let message: unknown;
  try {
    message = (JSON.parse(text) as { error?: unknown } | null)?.error;
  } catch {
    // It is told as it came.
  }
  const told = typeof message === 'string' ? message : text;
  return (told.startsWith(`${error}: `) ? told.slice(error.length + 2) : told).slice(0, mostCause);
}
