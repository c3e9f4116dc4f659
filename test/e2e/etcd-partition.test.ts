/** An etcd member that is partitioned from the others, and the watches on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import type { Store } from '../../src/storage/store.ts';
import { EtcdCluster } from './harness/etcd-cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { waitFor } from './harness/wait-for.ts';

/** Connects to the first of these members, and then to the next. */
function connectTo(etcd: EtcdCluster, members: readonly number[]): Promise<Store> {
  return connectEtcd({
    endpoints: members.map((member) => etcd.endpoint(member)),
    log: silentLogger,
    clock: systemClock,
    random: { ...systemRandom, next: () => 0 },
  });
}

test('a client that only watches at a partitioned etcd member receives the writes of other clients', async (context) => {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const etcd = EtcdCluster.over(hosts.all);
  await etcd.start();
  const parted = 0;
  const watcher = await connectTo(etcd, etcd.members);
  const writer = await connectTo(etcd, [1, 2]);
  const stop = new AbortController();
  const seen: string[] = [];
  const watch = async () => {
    const after = await watcher.currentRevision();
    for await (const { events } of watcher.watch('/tree/', after, stop.signal))
      seen.push(...events.map(({ key }) => key));
  };
  const watching = watch();
  try {
    await waitFor('the watch', async () => {
      await writer.create(`/tree/before-${seen.length}-${Date.now()}`, Buffer.from('x'));
      return seen.length > 0;
    });
    await etcd.isolate(parted);
    const begun = performance.now();
    await writer.create('/tree/parted', Buffer.from('x'));
    // The watch alone uses the partitioned member, which still answers pings of its connections.
    await waitFor('the write at the other members', () => seen.includes('/tree/parted'));
    context.diagnostic(`heard of it ${Math.round(performance.now() - begun)} ms after the parting`);
    await writer.create('/tree/later', Buffer.from('x'));
    await waitFor('the later write', () => seen.includes('/tree/later'));
    assert.equal(new Set(seen).size, seen.length, 'nothing is told twice');
  } finally {
    stop.abort();
    await watching;
    await watcher.close();
    await writer.close();
  }
});
