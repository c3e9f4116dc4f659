/** A lock, so that only one command at a time installs, upgrades or removes minik8s on a machine. */
import { troubleAt } from '../../os/file-trouble.ts';
import { holderOnceWritten, lockFile } from '../data-directory.ts';

/** Default path of the lock file, in a directory that is empty after a boot. */
const usualFile = '/run/minik8s-install.lock';

/** Resolves to a function that releases the lock; rejects if another process holds it. */
export async function claimInstallation(file = usualFile): Promise<() => Promise<void>> {
  const handle = await lockFile(file).catch((error) => {
    throw troubleAt(file, error);
  });
  if (handle !== undefined) return () => handle.close();
  const holder = await holderOnceWritten(file);
  const which = holder === undefined ? 'another process' : `process ${holder}`;
  throw new Error(
    `${which} installs, upgrades or removes minik8s on this machine: run this again when it has ended`,
  );
}
