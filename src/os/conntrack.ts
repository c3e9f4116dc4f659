/** Deletion of the kernel's NAT flows with conntrack(8). */

import { errorMessage, type Logger } from '../base/log.ts';
import { type Exec, ExecError } from './exec.ts';

/** Deletes the flows that each list of arguments selects. Failures are logged with `what`; never rejects. */
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
      // Exit status of conntrack when there is no such flow.
      if (error instanceof ExecError && error.failure.code === 1) continue;
      log.warn(`UDP flows to ${what} could not be deleted by conntrack`, { error: errorMessage(error) });
    }
  }
}
