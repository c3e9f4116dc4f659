import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { Ledger, Watcher } from './harness/ledger.ts';

const writers = 4;
const kills = ['etcd', 'minik8s', 'etcd', 'minik8s', 'minik8s', 'etcd'] as const;

test('no acknowledged write is lost while minik8s and etcd are killed with kill -9', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host });
  const api = cluster.kubeConfig().makeApiClient(CoreV1Api);
  const ledger = new Ledger();
  const watcher = new Watcher(cluster.kubeConfig());
  await watcher.start();

  const stop = new AbortController();
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => ledger.write([api], writer, stop.signal)),
  );
  writing.catch(() => undefined);

  const downs: number[] = [];
  for (const victim of kills) {
    await ledger.more(40);
    const start = performance.now();
    if (victim === 'minik8s') {
      await cluster.end('SIGKILL');
      await cluster.up();
    } else {
      const [pid] = cluster.processes('etcd');
      assert.ok(pid, 'etcd runs');
      process.kill(pid, 'SIGKILL');
    }
    await ledger.more(10);
    downs.push(Math.round(performance.now() - start));
  }
  stop.abort();
  await writing;
  assert.ok(ledger.acknowledged.size > kills.length * 40);
  context.diagnostic(`${ledger.acknowledged.size} writes; until they went on: ${downs.join(', ')} ms`);

  const items = await ledger.check(context, api);
  await context.test('a client that watches has received every acknowledged write', async () => {
    await watcher.hasAll(items);
    await watcher.stop();
  });
});
