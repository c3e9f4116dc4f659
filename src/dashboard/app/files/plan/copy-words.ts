/** Paths of copies, and how copies end, in words. Pure. */
import { isRecord } from '../../../../apimachinery/equality.ts';
import { textAt } from '../../../../apimachinery/fields.ts';
import { bytesText } from '../../charts/plan/amount-text.ts';
import { endInWords } from '../../terminal/plan/channels.ts';

/** Maximum number of bytes of a copy: the browser keeps all of them before it stores the file. */
export const maxBytes = 512 * 1024 * 1024;

/** Returns the reason why a copy of more than `max` bytes is refused. */
export const tooLarge = (what: string, max: number): string =>
  `${what}: more than ${bytesText(max)}, which is too much for a browser. Use minik8s ctl cp.`;

/** Returns why a path in a container cannot be used; undefined if it can. */
export function pathFault(path: string): string | undefined {
  if (!path.startsWith('/')) return 'The path must begin with /.';
  return path.includes('\0') ? 'The path must not contain a character of value 0.' : undefined;
}

/** Returns the last part of a path, or `root`. */
export const lastPart = (path: string): string => path.split('/').findLast((part) => part !== '') ?? 'root';

const noProgram = /executable file not found|no such file or directory.*tar|tar.*no such file or directory/i;

/**
 * Returns why a copy has failed, undefined if it has not. `status` is the text of the error channel, and
 * `stderr` what tar has reported.
 */
export function copyFault(status: string, stderr: string): string | undefined {
  const ended = parsed(status);
  if (textAt(ended, 'status') === 'Success') return undefined;
  const message = textAt(ended, 'message') || status;
  if (stderr === '' && (noProgram.test(message) || isNotFound(ended)))
    return 'The container has no tar, which reads and writes the files of a copy. Use an image that has it.';
  return stderr.trim() || endInWords(status);
}

/** Returns whether the exit code is that of a command which cannot be run or was not found. */
function isNotFound(status: unknown): boolean {
  const causes = isRecord(status) && isRecord(status.details) ? status.details.causes : undefined;
  return (
    Array.isArray(causes) &&
    causes.some((one) => textAt(one, 'reason') === 'ExitCode' && /^12[67]$/.test(textAt(one, 'message')))
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
