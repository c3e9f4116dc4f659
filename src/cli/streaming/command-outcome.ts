/** The end of a command, which the error channel reports as a Status from v4 of the channel protocols on. */
import { isRecord } from '../../apimachinery/equality.ts';
import { recordsAt, textAt } from '../objects/objects.ts';

/**
 * Returns the exit code. Throws an Error with the reason why the command could not run, or if the message is
 * not a Status.
 */
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
    // A message that is not JSON is shown unchanged.
    return undefined;
  }
}
