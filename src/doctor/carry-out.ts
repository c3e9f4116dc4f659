/** Carries out the changes of `minik8s doctor --fix`. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '../os/exec.ts';
import type { Fix } from './finding.ts';

/** Rejects with the error of the kernel if the change is not possible. */
export async function carryOutFix(exec: Exec, fix: Fix): Promise<void> {
  if (fix.kind === 'sysctl')
    return writeFile(join('/proc/sys', fix.name.replaceAll('.', '/')), `${fix.value}\n`);
  if (fix.kind === 'mode') return chmod(fix.path, fix.mode);
  await exec('modprobe', [fix.name]);
}
