/** Several masters on one etcd: their shared state, and the leader election. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { openCredentials } from '../../src/pki/credentials.ts';
import { executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import {
  endpoints,
  holderAt,
  leaderOf,
  type Master,
  podsOf,
  prepareMasters,
  ready,
} from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('several masters on one etcd share their state and elect a leader', async (context) => {
  const scene = await prepareMasters(context);
  const { host, etcd } = scene;
  const [a, b] = scene.masters;

  await context.test('masters that start at the same time on an empty etcd share one authority', async () => {
    await Promise.all([a.role.start(ready), b.role.start(ready)]);
    await a.kubectl('create', 'configmap', 'one');
    assert.equal((await b.kubectl('get', 'configmap', 'one', '-o', 'name')).trim(), 'configmap/one');
    // Credentials that one master wrote are valid at the other.
    const crossed = a.config();
    const [cluster] = crossed.clusters;
    assert.ok(cluster);
    crossed.clusters = [{ ...cluster, server: `https://${host.address}:${b.port}` }];
    await crossed.makeApiClient(CoreV1Api).readNamespacedConfigMap({ name: 'one', namespace: 'default' });
  });

  await context.test(
    'a master with another authority or other addresses is rejected with one line',
    async () => {
      const dataDir = join(host.directory, 'stranger');
      await openCredentials(join(dataDir, 'pki'), Date.now);
      const refused = async (...flags: string[]) => {
        const args = ['master', '--data-dir', dataDir, '--port=8443', etcd.flag, ...flags];
        const { code, stderr } = await endOf(host.command(executable, args));
        assert.equal(code, 1, stderr);
        const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
        assert.equal(errors.length, 1, stderr);
        return errors[0] ?? '';
      };
      const authority = await refused();
      assert.match(
        authority,
        /pki holds the certificate authority sha256:\S+, but the masters on this etcd share sha256:/,
      );
      assert.match(authority, /move \S+\/stranger\/pki away to join them/);
      const addresses = await refused('--service-cidr=10.97.0.0/16');
      assert.match(
        addresses,
        /run with --service-cidr 10\.96\.0\.0\/16 \(here 10\.97\.0\.0\/16\): use the same flags/,
      );
    },
  );

  await context.test(
    'the Service kubernetes lists both masters, and each publishes its own address',
    async () => {
      await waitFor(
        'both endpoints',
        async () => (await endpoints(a)).join() === `${a.endpoint},${b.endpoint}`,
      );
      for (const master of scene.masters) {
        const versions = JSON.parse(await master.kubectl('get', '--raw', '/api')) as {
          serverAddressByClientCIDRs: unknown;
        };
        const serverAddress = `${host.address}:${master.port}`;
        assert.deepEqual(versions.serverAddressByClientCIDRs, [{ clientCIDR: '0.0.0.0/0', serverAddress }]);
      }
      assert.match(await a.kubectl('get', 'leases', '-n', 'kube-system'), /apiserver-\S+-7443/);
    },
  );

  await context.test('masters that allocate at the same time allocate nothing twice', async () => {
    const create = (master: Master, i: number) =>
      master.kubectl('create', 'service', 'nodeport', `s${master.port}-${i}`, '--tcp=80');
    await Promise.all(Array.from({ length: 6 }, (_, i) => [create(a, i), create(b, i)]).flat());
    const path = '{range .items[*]}{.spec.clusterIP} {.spec.ports[0].nodePort}{"\\n"}{end}';
    const lines = (await a.kubectl('get', 'services', '-o', `jsonpath=${path}`)).trim().split('\n');
    const [ips, ports] = [0, 1].map((column) => lines.map((line) => line.split(' ')[column]).filter(Boolean));
    assert.equal(new Set(ips).size, lines.length);
    assert.equal(new Set(ports).size, 12);
  });

  await context.test(
    'when the leader stops, the other master leads within seconds, and the stopped one is no longer an endpoint',
    async (t) => {
      await a.kubectl('create', 'deployment', 'handed', '--image=none', '--replicas=1');
      const [leader, other] = await leaderOf(scene);
      await waitFor('its pod', async () => (await podsOf(other, 'handed')) === 1);
      assert.equal(await leader.role.end('SIGTERM'), 0);
      // The leader has released the lease: the other need not wait for its end.
      assert.notEqual(await holderAt(other), leader.identity);
      const since = performance.now();
      assert.deepEqual(await endpoints(other), [other.endpoint]);
      await other.kubectl('scale', 'deployment/handed', '--replicas=3');
      await waitFor('three pods', async () => (await podsOf(other, 'handed')) === 3, { intervalMs: 10 });
      const ms = performance.now() - since;
      t.diagnostic(`the other had acted ${Math.round(ms)} ms after the leader ended`);
      await leader.role.start(ready);
      await waitFor('both endpoints', async () => (await endpoints(other)).length === 2);
    },
  );
});
