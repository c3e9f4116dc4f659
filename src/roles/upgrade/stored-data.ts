/** `minik8s upgrade --data-format`: takes the data of a stopped master back to an earlier format. */
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { version } from '../../base/version.ts';
import { configFileOf } from '../../installation/plan/role.ts';
import { otherMembersOf, readOwnMember } from '../../masters/member-folder.ts';
import { lowerData } from '../../storage/data-format.ts';
import { openDataDirectory } from '../data-directory.ts';
import { openStorage } from '../master/storage.ts';
import { settingRows } from '../settings/setting-table.ts';
import { readSettings } from '../settings/settings.ts';

const rows = settingRows('control plane');

/** Rejects if a master runs on the data. `onStep` is called with a line about each step. */
export async function lowerStoredData(
  format: number,
  onStep: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const settings = readSettings(rows, {
    command: 'minik8s master',
    flags: {},
    environment: process.env,
    configFile: configFileOf.master,
    translate: (file) => Object.fromEntries(Object.entries(file).filter(([key]) => Object.hasOwn(rows, key))),
  });
  const directory = await openDataDirectory(settings['data-dir']);
  try {
    await requireAlone(settings['data-dir']);
    await using stack = new AsyncDisposableStack();
    const context = { settings, clock: systemClock, random: systemRandom, log: silentLogger };
    // An etcd with one member is reached by its socket, so the address is not used.
    const { store } = await openStorage({ ...context, advertiseAddress: '127.0.0.1' }, stack, signal);
    await lowerData(store, format, { version: version(), onStep });
  } finally {
    await directory.release();
  }
}

/** Rejects if the master has other masters, because these may run on the same data. */
async function requireAlone(dataDir: string): Promise<void> {
  const member = await readOwnMember(join(dataDir, 'etcd'));
  const others = member ? otherMembersOf(member).map(({ name }) => name) : [];
  if (others.length > 0)
    throw new Error(
      `the data in ${dataDir} are shared with the masters ${others.join(', ')}, which may run on them: restore the backup from before the upgrade instead (minik8s backup list)`,
    );
}
