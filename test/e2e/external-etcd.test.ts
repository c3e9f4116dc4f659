import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cluster, executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { ExternalEtcd } from './harness/external-etcd.ts';
import { deployHello, nameOf, readyPods, restartsOf } from './harness/hello.ts';
import { end, Host } from './harness/host.ts';
import { kubectlFor } from './harness/kubectl.ts';
import { waitFor } from './harness/wait-for.ts';

test('masters work on an external etcd over TLS', async (context) => {
  const host = await Host.start(context);
  const etcd = new ExternalEtcd(host);
  await etcd.makeCertificates();
  const cluster = await Cluster.start(context, { host, stopped: true, flags: etcd.flags() });
  const { kubectl } = cluster;

  await context.test(
    'a start fails with one line if no etcd answers, or etcd rejects the client certificate',
    async () => {
      const refused = async (name: string, flags: readonly string[], expected = 1) => {
        const dataDir = join(host.directory, name);
        const all = ['master', '--data-dir', dataDir, '--port', '6444', ...flags];
        const { code, stderr } = await endOf(host.command(executable, all));
        assert.equal(code, expected, stderr);
        assert.equal(stderr.split('\n').filter((line) => line.startsWith('error: ')).length, 1, stderr);
        return stderr.split('\n').at(-2) ?? '';
      };
      etcd.start();
      const [noFile, absent, unknown] = await Promise.all([
        refused('no-file', [...etcd.flags(), '--etcd-ca=/nowhere/ca.crt'], 2),
        refused('absent', ['--etcd-endpoints=http://127.0.0.1:1', '--port=6445']),
        refused('unknown', etcd.flags(etcd.otherPki)),
      ]);
      assert.match(noFile, /^error: --etcd-ca: "\/nowhere\/ca\.crt" cannot be read/);
      assert.match(absent, /^error: no etcd answers at http:\/\/127\.0\.0\.1:1 .*ECONNREFUSED.*; start it/);
      assert.match(unknown, /^error: no etcd answers at https:\/\/127\.0\.0\.1:2379 .*correct .*--etcd-cert/);
      context.diagnostic(`${absent} ${unknown}`);
    },
  );

  await context.test('a master on an external etcd starts no etcd of its own', async () => {
    await cluster.up();
    assert.deepEqual(cluster.processes('etcd'), []);
    await deployHello(cluster);
    await readyPods(cluster, 3);
  });

  await context.test(
    'a write fails with the reason while etcd is killed, and succeeds after its restart',
    async () => {
      const before = (await readyPods(cluster, 3)).map(nameOf).sort();
      await etcd.kill();
      const { code, stderr } = await kubectl.attempt([
        'create',
        'configmap',
        'later',
        '--request-timeout=3s',
      ]);
      assert.equal(code, 1);
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
      etcd.start();
      await waitFor('a write', async () => {
        const made = await kubectl.attempt(['create', 'configmap', 'later']);
        if (made.code !== 0 && !/already exists/.test(made.stderr)) throw new Error(made.stderr);
        return true;
      });
      const after = await readyPods(cluster, 3);
      assert.deepEqual(after.map(nameOf).sort(), before);
      assert.deepEqual(after.map(restartsOf), [0, 0, 0]);
    },
  );

  await context.test(
    'a second master has the same objects, and takes over when the first stops',
    async () => {
      const dataDir = join(host.directory, 'second');
      const flags = ['--data-dir', dataDir, '--port=7443', '--bind-address', host.address, ...etcd.flags()];
      const master = host.spawn(executable, ['master', ...flags]);
      const second = kubectlFor(join(dataDir, 'admin.conf'));
      await waitFor('the second master', async () => {
        return (await second('get', 'deployment', 'hello', '-o', 'jsonpath={.status.readyReplicas}')) === '3';
      });
      await second('scale', 'deployment/hello', '--replicas=2');
      await readyPods(cluster, 2);
      assert.equal(await cluster.end('SIGTERM'), 0);
      await second('scale', 'deployment/hello', '--replicas=5');
      await waitFor('its controllers lead', async () => {
        // No node remains that could run the pods.
        const selectors = ['-l', 'app=hello', '--field-selector', 'status.phase=Pending'];
        const names = await second('get', 'pods', ...selectors, '-o', 'name');
        return names.trim().split('\n').length === 3;
      });
      await end(master, 'SIGTERM');
      assert.equal(master.exitCode, 0);
    },
  );
});
