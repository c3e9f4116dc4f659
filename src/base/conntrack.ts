/** Flows that the kernel keeps a translation for, deleted by conntrack(8). */
import { type Exec, ExecError } from './exec.ts';
import { errorMessage, type Logger } from './log.ts';

/**
 * Deletes the flows that each list of arguments names. What fails is logged with `what`; it never rejects.
 */
export async function deleteFlows(
  exec: Exec,
  log: Logger,
  what: string,
  all: readonly (readonly string[])[],
): Promise<void> {
  for (const args of all) {
    try {
      await exec('conntrack', args);
    } catch (error) {
      // Its status when there is no such flow.
      if (error instanceof ExecError && error.failure.code === 1) continue;
      log.warn(`UDP flows to ${what} could not be deleted by conntrack`, { error: errorMessage(error) });
    }
  }
}
