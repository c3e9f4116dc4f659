/** Deletion of nft tables that may not exist. */
import { type Exec, ExecError } from './exec.ts';

/**
 * Deletes a table such as `ip6 minik8s-proxy`. Has no effect if there is none, which is also the case in a
 * kernel without the family.
 */
export async function deleteTable(exec: Exec, table: string): Promise<void> {
  try {
    await exec('nft', ['delete', 'table', ...table.split(' ')]);
  } catch (error) {
    if (!(error instanceof ExecError) || !isAbsent.test(error.failure.stderr)) throw error;
  }
}

const isAbsent = /No such file or directory|not supported/;
