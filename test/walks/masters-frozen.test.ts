/**
 * A leader that freezes right after it has sent requests; they arrive when another leader has already done
 * the same work.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import type { Store } from '../../src/storage/store.ts';
import { FaultyProxy } from '../conformance/faulty-proxy.ts';
import { EtcdCluster } from '../e2e/harness/etcd-cluster.ts';
import { Hosts } from '../e2e/harness/hosts.ts';
import { holderAt, Master, podsOf, ready } from '../e2e/harness/masters.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';

const pods = '/registry/pods/default/';

const replicaSet = (app: string) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: app },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'none' }] } },
  },
});

/** Returns the names of the pods that were written after a revision, up to the pod named `last`. */
async function writtenAfter(store: Store, revision: number, last: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { events } of store.watch(pods, revision, AbortSignal.timeout(30_000))) {
    names.push(...events.map(({ key }) => key.slice(pods.length)));
    if (names.includes(last)) break;
  }
  return names;
}

test('writes that a leader sent before it froze fail once another master leads', async (context) => {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const etcd = EtcdCluster.over(hosts.all);
  await etcd.start();
  const { hostname, port } = new URL(etcd.endpoint(0));
  const proxy = await FaultyProxy.listen(
    { host: hosts.outside, port: 0 },
    { host: hostname, port: Number(port) },
  );
  hosts.at(0).after(() => proxy.close());
  const leader = new Master(hosts.at(0), 'leader', 6443, [`--etcd-endpoints=${proxy.endpoint}`]);
  const other = new Master(hosts.at(1), 'other', 6443, [etcd.flag]);
  await leader.role.start(ready);
  await waitFor('the first to lead', async () => leader.identity !== undefined);
  await other.role.start(ready);
  assert.equal(await holderAt(other), leader.identity);
  const names = ['web-0', 'web-1', 'web-2'];
  // A ReplicaSet, whose pods are the first objects that are written for it.
  const scale = (replicas: number) =>
    other.kubectl('scale', ...names.map((name) => `replicaset/${name}`), `--replicas=${replicas}`);
  const all = (replicas: number) =>
    waitFor(`${replicas} pods of each`, async () => {
      const counts = await Promise.all(names.map((name) => podsOf(other, name)));
      return counts.every((count) => count === replicas);
    });
  const file = join(hosts.at(1).directory, 'web.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: names.map(replicaSet) }));
  await other.kubectl('create', '-f', file);
  await all(1);

  // The leader still receives events and decides; its requests get no further than the proxy.
  proxy.holdClient = true;
  await scale(6);
  await waitFor('requests for pods in flight', () => proxy.holds(`${pods}web-`), { intervalMs: 5 });
  leader.role.freeze();
  await waitFor('the other to lead', async () => other.identity === (await holderAt(other)), {
    timeoutMs: 40_000,
  });
  await all(6);
  // The last write of the other leader reports that no node has room for the pods.
  await waitFor('an unschedulable condition on every pod', async () => {
    const told = [
      'get',
      'pods',
      '-o',
      'jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].reason}',
    ];
    return (
      (await other.kubectl(...told)).split(' ').filter((reason) => reason !== '').length === 6 * names.length
    );
  });

  const store = await connectEtcd({
    endpoints: [etcd.endpoint(1)],
    log: silentLogger,
    clock: systemClock,
    random: systemRandom,
  });
  try {
    const revision = await store.currentRevision();
    assert.ok(proxy.holds(`${pods}web-`), 'the connection of the frozen leader is still open');
    proxy.holdClient = false;
    proxy.deliverHeld();
    leader.role.thaw();
    await waitFor('the thawed leader to lose its lease', () =>
      /lost the leadership|giving up the leadership/.test(leader.role.log),
    );
    await other.kubectl('run', 'last', '--image=none');
    assert.deepEqual([...new Set(await writtenAfter(store, revision, 'last'))], ['last']);
    await scale(2);
    await all(2);
    assert.equal(await holderAt(other), other.identity, 'the other goes on leading');
  } finally {
    await store.close();
  }
});
