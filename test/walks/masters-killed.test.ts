/** Several masters on an etcd of three members, each of which is killed, frozen or cut off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { EtcdCluster } from '../e2e/harness/etcd-cluster.ts';
import { Hosts } from '../e2e/harness/hosts.ts';
import { Ledger, Watcher } from '../e2e/harness/ledger.ts';
import { endpoints, holderAt, Master, podsOf, prepareMasters, ready } from '../e2e/harness/masters.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';

test('no write is lost or made twice although members of etcd and masters are killed under load', async (context) => {
  const scene = await prepareMasters(context);
  const { etcd } = scene;
  const [a, b] = scene.masters;
  await Promise.all([a.role.start(ready), b.role.start(ready)]);
  const apis = scene.masters.map((master) => master.config().makeApiClient(CoreV1Api));
  const ledger = new Ledger();
  const watchers = scene.masters.map((master) => new Watcher(master.config()));
  for (const watcher of watchers) await watcher.start();
  const stop = new AbortController();
  const writing = Promise.all([0, 1, 2, 3].map((writer) => ledger.write(apis, writer, stop.signal)));
  writing.catch(() => undefined);

  const downs: string[] = [];
  const disturb = async (what: string, act: () => Promise<unknown>) => {
    await ledger.more(40);
    const since = performance.now();
    await act();
    await ledger.more(20);
    downs.push(`${what} ${Math.round(performance.now() - since)}`);
  };
  const cut = await etcd.memberOf(a.role.pid);
  await disturb('the packets to the member a master talks to go nowhere', async () => {
    const since = performance.now();
    await etcd.cutOff(cut);
    await a.kubectl('create', 'configmap', 'past-the-cut');
    await b.kubectl('create', 'configmap', 'seen-past-the-cut');
    // The watch of this master must have advanced too, so that it can read another master's write.
    await a.kubectl('get', 'configmap', 'seen-past-the-cut');
    const ms = performance.now() - since;
    assert.ok(ms < 30_000, `${ms} ms`);
  });
  await etcd.rejoin(cut);
  const member = await etcd.memberOf(b.role.pid);
  await disturb('the member that the other talks to is killed', () => etcd.kill(member));
  await etcd.restart(member);
  const frozen = await etcd.memberOf(b.role.pid);
  await disturb('the next is frozen', async () => etcd.freeze(frozen));
  etcd.thaw(frozen);
  await disturb('a master is killed', () => a.role.end('SIGKILL'));
  await a.role.start(ready);
  const last = (frozen + 1) % etcd.members.length;
  await disturb('a member and the other master are killed', () =>
    Promise.all([etcd.kill(last), b.role.end('SIGKILL')]),
  );
  await etcd.restart(last);
  await b.role.start(ready);
  await ledger.more(40);
  stop.abort();
  await writing;
  context.diagnostic(`${ledger.acknowledged.size} writes; ms until 20 more: ${downs.join(', ')}`);

  const [api] = apis;
  assert.ok(api);
  const items = await ledger.check(context, api);
  await context.test('clients that watch either master receive every acknowledged write', async () => {
    for (const watcher of watchers) {
      await watcher.hasAll(items);
      await watcher.stop();
    }
  });
  await context.test(
    'without a majority of etcd a master logs one line, /readyz fails, and the master recovers',
    async () => {
      await etcd.kill(0);
      await etcd.kill(1);
      const [read, write] = await Promise.all([
        a.kubectl.attempt(['get', 'configmap', 'counter-0']),
        a.kubectl.attempt(['create', 'configmap', 'nowhere']),
      ]);
      for (const { code, stderr } of [read, write]) {
        assert.equal(code, 1);
        assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
      }
      assert.match(read.stderr, /etcd is not reachable/);
      assert.match(write.stderr, /it is not known whether the change was made/);
      const health = await a.kubectl.attempt(['get', '--raw', '/readyz']);
      assert.match(health.stderr, /\[-\]etcd failed/);
      assert.equal(await a.kubectl('get', '--raw', '/livez'), 'ok');
      etcd.revive(0);
      etcd.revive(1);
      await waitFor(
        'a write',
        async () => (await b.kubectl.attempt(['create', 'configmap', 'back'])).code === 0,
      );
      assert.equal((await a.kubectl('get', 'configmap', 'back', '-o', 'name')).trim(), 'configmap/back');
      assert.equal(await a.kubectl('get', '--raw', '/readyz'), 'ok');
      await waitFor('both endpoints', async () => (await endpoints(a)).length === 2);
    },
  );
});

test('the other masters continue when the leader’s machine and its etcd member are cut off, and the leader returns', async (context) => {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const etcd = EtcdCluster.over(hosts.all);
  await etcd.start();
  const master = (index: number) => new Master(hosts.at(index), `m${index}`, 6443, [etcd.flag]);
  const [a, b] = [master(0), master(1)];
  await a.role.start(ready);
  await waitFor(
    'the first to lead',
    async () => a.identity !== undefined && (await holderAt(a)) === a.identity,
  );
  await b.role.start(ready);
  await a.kubectl('create', 'deployment', 'web', '--image=none', '--replicas=3');
  await waitFor('its pods', async () => (await podsOf(b, 'web')) === 3);
  await waitFor('both endpoints', async () => (await endpoints(b)).join() === `${a.endpoint},${b.endpoint}`);

  await hosts.cut(hosts.at(0));
  const since = performance.now();
  const probe = () =>
    hosts.at(0).run('curl', '-sk', '--max-time', '5', `https://${hosts.at(0).address}:6443/readyz`);
  await waitFor('readyz reports that etcd failed', async () => (await probe()).includes('[-]etcd failed'));
  await waitFor(
    'writes at the other',
    async () => (await b.kubectl.attempt(['create', 'configmap', 'meanwhile'])).code === 0,
  );
  const writes = Math.round(performance.now() - since);
  await b.kubectl('scale', 'deployment/web', '--replicas=30');
  await waitFor('the other leads', async () => (await podsOf(b, 'web')) === 30);
  const leads = Math.round(performance.now() - since);
  await waitFor('one endpoint', async () => (await endpoints(b)).join() === b.endpoint);

  await hosts.heal(hosts.at(0));
  const healed = performance.now();
  await waitFor(
    'the writes in the meantime',
    async () => (await a.kubectl.attempt(['get', 'configmap', 'meanwhile'])).code === 0,
  );
  context.diagnostic(
    `writes again after ${writes} ms, 27 pods more after ${leads}; the master that was cut off reads them ${Math.round(performance.now() - healed)} ms after it is back`,
  );
  await waitFor('both endpoints', async () => (await endpoints(a)).join() === `${a.endpoint},${b.endpoint}`);
  await a.kubectl('scale', 'deployment/web', '--replicas=31');
  await waitFor('one more pod', async () => (await podsOf(a, 'web')) >= 31);
  assert.equal(await podsOf(b, 'web'), 31);
});
