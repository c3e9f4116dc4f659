/** Network links of this machine. */
import { type Exec, ExecError } from './exec.ts';

/**
 * Deletes a link; resolves also when there is no such link. One end of a veth pair disappears with the
 * network namespace of the other end. ip(8) has one message for a name that it does not find and another for
 * a link that disappears afterwards.
 */
export async function deleteLink(exec: Exec, name: string): Promise<void> {
  try {
    await exec('ip', ['link', 'delete', 'dev', name]);
  } catch (error) {
    if (error instanceof ExecError && /Cannot find device|No such device/.test(error.failure.stderr)) return;
    throw error;
  }
}
