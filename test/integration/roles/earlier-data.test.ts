/**
 * The data directory of an earlier minik8s, whose etcd was Debian's: the current version finds the program
 * that wrote the data, and all the data.
 */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { silentLogger as log } from '../../../src/base/log.ts';
import { systemRandom as random } from '../../../src/base/random.ts';
import { extractAsset } from '../../../src/os/assets.ts';
import { openStorage } from '../../../src/roles/master/storage.ts';
import { settingRows } from '../../../src/roles/settings/setting-table.ts';
import { readSettings } from '../../../src/roles/settings/settings.ts';
import { connectEtcd } from '../../../src/storage/etcd.ts';
import { runEtcd, socketAddress } from '../../../src/storage/etcd-process.ts';

test('a master takes over the data that the etcd of an earlier version wrote', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-storage-'));
  const at = (name: string) => join(directory, name);
  const stop = new AbortController();
  try {
    await mkdir(at('bin'));
    await mkdir(at('etcd'));
    await cp('/usr/bin/etcd', at('bin/etcd'));
    const command = {
      binary: at('bin/etcd'),
      dataDir: at('etcd'),
      data: at('etcd/data'),
      stopMs: 5000,
      clock,
    };
    const earlier = runEtcd(command, stop.signal, () => undefined);
    const endpoints = [`unix:${socketAddress(at('etcd'), 0)}`];
    const before = await connectEtcd({ endpoints, log, clock, random });
    const revision = await before.create('/registry/a', Buffer.from('written'));
    await before.close();
    stop.abort();
    await earlier;

    await using stack = new AsyncDisposableStack();
    const settings = readSettings(settingRows('control plane'), {
      ...{ flags: { 'data-dir': directory }, environment: {} },
      ...{ command: 'minik8s master', configFile: at('none.yaml') },
    });
    const options = { settings, advertiseAddress: '127.0.0.1', log, clock, random };
    const { store } = await openStorage(options, stack, AbortSignal.timeout(60_000));
    assert.deepEqual(await store.get('/registry/a'), {
      key: '/registry/a',
      value: Buffer.from('written'),
      revision,
    });
    // The earlier minik8s would write its etcd to this path again, and therefore would not start.
    await assert.rejects(extractAsset('etcd.zst', at('bin/etcd'), 0o755), /cannot write .*bin\/etcd/);
  } finally {
    stop.abort();
    await rm(directory, { recursive: true, force: true });
  }
});
