/** A lock, so that only one command at a time installs, upgrades or removes minik8s on a machine. */
import { type Clock, sleep, systemClock } from '../../base/clock.ts';
import { troubleAt } from '../../os/file-trouble.ts';
import { holderOnceWritten, lockFile } from '../data-directory.ts';

/** Default path of the lock file, in a directory that is empty after a boot. */
const usualFile = '/run/minik8s-install.lock';

/** Milliseconds for a command to end whose work is done: an upgrade outlives the start of its service. */
const [patienceMs, retryMs] = [10_000, 200];

/** Resolves to a function that releases the lock; rejects if another process holds it for ten seconds. */
export async function claimInstallation(
  file = usualFile,
  clock: Clock = systemClock,
): Promise<() => Promise<void>> {
  const until = clock.monotonic() + patienceMs;
  for (;;) {
    const handle = await lockFile(file).catch((error) => {
      throw troubleAt(file, error);
    });
    if (handle !== undefined) return () => handle.close();
    if (clock.monotonic() >= until) break;
    await sleep(clock, retryMs);
  }
  const holder = await holderOnceWritten(file);
  const which = holder === undefined ? 'another process' : `process ${holder}`;
  throw new Error(
    `${which} installs, upgrades or removes minik8s on this machine: run this again when it has ended`,
  );
}
