/** A stop of the service that a start follows: new connections wait for the next process, as in a restart. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Exec } from '../os/exec.ts';
import { restartSignal, unitName } from './plan/systemd-unit.ts';

/** File of settings for the time of the stop. If this process is killed, the next boot removes the file. */
const heldStopPath = `/run/systemd/system/${unitName}.d/minik8s-upgrade.conf`;

/**
 * Stops the service with the signal of a restart, for which systemd has no command. That signal alone before
 * a usual stop would not do: a process ends at once at its second signal. Rejects if the service does not
 * stop.
 */
export async function stopBeforeStart(exec: Exec, path = heldStopPath, unit = unitName): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `[Service]\nKillSignal=${restartSignal}\n`);
  try {
    await exec('systemctl', ['daemon-reload']);
    await exec('systemctl', ['stop', unit], { lengthy: true });
  } finally {
    await rm(path, { force: true });
    await exec('systemctl', ['daemon-reload']);
  }
}
