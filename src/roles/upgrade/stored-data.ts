/** `minik8s upgrade --data-format`: takes the data of a stopped master back to an earlier format. */
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { version } from '../../base/version.ts';
import { configFileOf } from '../../installation/plan/role.ts';
import { lowerData } from '../../storage/data-format.ts';
import { openDataDirectory } from '../data-directory.ts';
import { openStorage } from '../master/storage.ts';
import { settingTable } from '../settings/setting-table.ts';
import { readSettings } from '../settings/settings.ts';

const rows = {
  'data-dir': settingTable['data-dir'],
  'etcd-endpoints': settingTable['etcd-endpoints'],
  'etcd-ca': settingTable['etcd-ca'],
  'etcd-cert': settingTable['etcd-cert'],
  'etcd-key': settingTable['etcd-key'],
} as const;

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
    await using stack = new AsyncDisposableStack();
    const context = { settings, clock: systemClock, random: systemRandom, log: silentLogger };
    const { store } = await openStorage(context, stack, signal);
    await lowerData(store, format, { version: version(), onStep });
  } finally {
    await directory.release();
  }
}
