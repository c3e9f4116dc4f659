/** Network links of this machine. */
import { type Exec, ExecError } from './exec.ts';

/**
 * Resolves when there is no such link, whoever took it away: one end of a pair goes by itself with the namespace of the
 * other. ip(8) says the one when it does not find the name, the other when the link goes after it has found it.
 */
export async function deleteLink(exec: Exec, name: string): Promise<void> {
  try {
    await exec('ip', ['link', 'delete', 'dev', name]);
  } catch (error) {
    if (error instanceof ExecError && /Cannot find device|No such device/.test(error.failure.stderr)) return;
    throw error;
  }
}
