/** How a command ended, as the error channel says it from v4 of the channel protocols on: a Status. */
import { isRecord } from '../../apimachinery/equality.ts';
import { recordsAt, textAt } from '../objects.ts';

/** The exit code. Throws an Error that says why the command could not run, or that the message is not a Status. */
export function exitCodeOf(text: string): number {
  const status = parse(text);
  if (textAt(status, 'status') === 'Success') return 0;
  const cause = recordsAt(status, 'details', 'causes').find(({ reason }) => reason === 'ExitCode');
  const code = Number(textAt(cause, 'message') || Number.NaN);
  if (textAt(status, 'reason') === 'NonZeroExitCode' && Number.isInteger(code)) return code;
  throw new Error(textAt(status, 'message') || `the server does not say how the command ended: ${text}`);
}

function parse(text: string): unknown {
  try {
    const status: unknown = JSON.parse(text);
    return isRecord(status) ? status : undefined;
  } catch {
    // What is no JSON is shown as it is.
    return undefined;
  }
}
