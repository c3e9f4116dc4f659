/** Disk usage of a directory, as `du` counts it. */

import { errorMessage, type Logger } from '../../base/log.ts';
import { type Exec, ExecError } from '../../os/exec.ts';

const timeoutMs = 20_000;

/**
 * Returns bytes or inodes below a directory, on its own file system only; undefined when it cannot be
 * measured, which is logged.
 */
export async function directoryUsage(
  { exec, log }: { readonly exec: Exec; readonly log: Logger },
  directory: string,
  what: 'bytes' | 'inodes',
): Promise<number | undefined> {
  const unit = what === 'inodes' ? '--inodes' : '--block-size=1';
  try {
    const { stdout } = await exec('du', ['--summarize', '--one-file-system', unit, directory], { timeoutMs });
    return countOf(stdout);
  } catch (error) {
    // The program du also fails when a file was removed while it counted, but still prints its sum.
    const counted = error instanceof ExecError ? countOf(error.failure.stdout) : undefined;
    if (counted !== undefined) return counted;
    log.debug('cannot measure a directory', { directory, error: errorMessage(error) });
    return undefined;
  }
}

function countOf(output: string): number | undefined {
  const [, count] = /^(\d+)\t/.exec(output) ?? [];
  return count === undefined ? undefined : Number(count);
}
