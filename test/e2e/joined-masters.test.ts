/** Three masters with the embedded etcd: they join, and one is killed under load. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { Hosts } from './harness/hosts.ts';
import { JoinedMaster } from './harness/joined-masters.ts';
import { Ledger, Watcher } from './harness/ledger.ts';
import { endpoints, holderAt, podsOf } from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('one master becomes the first of three, and any of them may be killed', async (context) => {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const masters = [0, 1, 2].map((index) => new JoinedMaster(hosts, index));
  const [a, b, c] = masters;
  assert.ok(a && b && c);
  await a.startWith(undefined);
  await a.kubectl('create', 'configmap', 'before');
  await a.kubectl('create', 'deployment', 'web', '--image=none', '--replicas=3');
  const listening = () => hosts.at(0).run('ss', '-Hltn', 'sport = :2380');

  await context.test(
    'a master needs a token for masters; a join with a node’s token or without a token is rejected',
    async () => {
      assert.equal(await listening(), '');
      const { stdout } = await a.minik8s('token', 'create', '--kubeconfig', `${a.dataDir}/admin.conf`);
      const [, token = ''] = /^token: (\S+)$/m.exec(stdout) ?? [];
      const line = { ...(await a.invite()), token };
      b.configure(line);
      await assert.rejects(
        b.role.start(/never/),
        /the token is wrong, has expired, or is not one for masters/,
      );
      const post = ['-sk', '-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', '-d', '{}'];
      const asked = await hosts.at(1).run('curl', ...post, `https://${a.endpoint}/minik8s/masters`);
      assert.equal(asked, '401');
      assert.equal(await listening(), '', 'no port is open before a master joins');
    },
  );

  const api = a.config().makeApiClient(CoreV1Api);
  const ledger = new Ledger();
  const watcher = new Watcher(a.config());
  await watcher.start();
  const stop = new AbortController();
  const apis = [api];
  const writing = Promise.all([0, 1].map((writer) => ledger.write(apis, writer, stop.signal)));
  writing.catch(() => undefined);

  await context.test('two other masters join under load, with the printed command line', async () => {
    await ledger.more(20);
    await b.startWith(await a.invite());
    await c.startWith(await b.invite());
    await waitFor('three voters', async () => {
      const lines = await a.list();
      return lines.length === 3 && lines.every((line) => / voter +yes/.test(line));
    });
    await waitFor('three endpoints', async () => (await endpoints(c)).length === 3);
    assert.equal((await c.kubectl('get', 'configmap', 'before', '-o', 'name')).trim(), 'configmap/before');
    assert.equal(await podsOf(b, 'web'), 3);
    await ledger.more(20);
  });
  apis.push(b.config().makeApiClient(CoreV1Api), c.config().makeApiClient(CoreV1Api));

  await context.test('when one master is killed, the others continue, and it rejoins', async (t) => {
    for (const master of masters) {
      const since = performance.now();
      await master.role.end('SIGKILL');
      await ledger.more(1);
      t.diagnostic(`a write ${Math.round(performance.now() - since)} ms after the end of ${master.name}`);
      await ledger.more(20);
      await master.startWith(undefined);
      await ledger.more(20);
    }
    await a.kubectl('scale', 'deployment/web', '--replicas=5');
    await waitFor('five pods', async () => (await podsOf(c, 'web')) === 5);
    assert.ok(await holderAt(a));
  });

  await context.test('three masters that are killed at once serve again after their restart', async () => {
    await Promise.all(masters.map((master) => master.role.end('SIGKILL')));
    await Promise.all(masters.map((master) => master.startWith(undefined)));
    await ledger.more(20);
  });
  await context.test('a master with an empty disk joins again under its name', async () => {
    await c.kill();
    // rmSync leaves files without an error if a process that ends removes others meanwhile.
    await rm(c.dataDir, { recursive: true });
    await c.startWith(await a.invite());
    await waitFor(
      'three voters',
      async () => (await b.list()).filter((line) => / voter +yes/.test(line)).length === 3,
    );
    await ledger.more(20);
  });
  stop.abort();
  await writing;
  const items = await ledger.check(context, api);
  await watcher.hasAll(items);
  await watcher.stop();
});
