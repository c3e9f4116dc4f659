/** Informers and watches of client-go, over HTTP/2, while their master is killed and restarted. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { startClientGo, unlessClientGo } from '../fixtures/client-go.ts';
import { Host } from './harness/host.ts';
import { Master, ready } from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('client-go continues over a restart of the master without a missed or repeated event', {
  skip: unlessClientGo,
}, async (context) => {
  const host = await Host.start(context, { docker: false });
  const master = new Master(host, 'master', 6443, []);
  await master.role.start(ready);
  const count = async () => {
    const list = await master
      .config()
      .makeApiClient(CoreV1Api)
      .listNamespacedConfigMap({ namespace: 'default' });
    return list.items.length;
  };
  const going = startClientGo(join(master.dataDir, 'admin.conf'), 'follow');
  const more = async () => {
    const before = await count();
    await waitFor('more objects', async () => (await count()) > before + 20);
  };
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    await more();
    await master.role.end(signal);
    await master.role.start(ready);
  }
  await more();
  const { written, connections, ...found } = await going.end();
  context.diagnostic(`${written} writes, ${connections} connections`);
  assert.ok(Number(written) > 100, `${written} writes`);
  assert.deepEqual(found, { failed: true, versions: ['HTTP/2.0'], missed: [], doubled: [], unlike: [] });
});
