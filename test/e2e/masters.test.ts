/** Several masters on one etcd: what they share, and who leads. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
  type Scene,
} from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('several masters on one etcd', async (context) => {
  const scene = await prepareMasters(context);
  const { host, etcd } = scene;
  const [a, b] = scene.masters;

  await context.test('started at once on nothing, they share one authority', async () => {
    await Promise.all([a.role.start(ready), b.role.start(ready)]);
    await a.kubectl('create', 'configmap', 'one');
    assert.equal((await b.kubectl('get', 'configmap', 'one', '-o', 'name')).trim(), 'configmap/one');
    // The credentials that one wrote are good at the other.
    const crossed = a.config();
    const [cluster] = crossed.clusters;
    assert.ok(cluster);
    crossed.clusters = [{ ...cluster, server: `https://${host.address}:${b.port}` }];
    await crossed.makeApiClient(CoreV1Api).readNamespacedConfigMap({ name: 'one', namespace: 'default' });
  });

  await context.test('one with another authority, or other addresses, is refused in one line', async () => {
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
    assert.match(authority, /pki holds the authority sha256:\S+, but the masters on this etcd share sha256:/);
    assert.match(authority, /move \S+\/stranger\/pki away to join them/);
    const addresses = await refused('--service-cidr=10.97.0.0/16');
    assert.match(addresses, /have --service-cidr 10\.96\.0\.0\/16 \(here 10\.97\.0\.0\/16\): give the same/);
  });

  await context.test('the Service kubernetes lists both, and each tells its own address', async () => {
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
  });

  await context.test('two that allocate at once give nothing out twice', async () => {
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
    'the leader stops: the other leads within seconds, and it is an endpoint no more',
    async (t) => {
      await a.kubectl('create', 'deployment', 'handed', '--image=none', '--replicas=1');
      const [leader, other] = await leaderOf(scene);
      await waitFor('its pod', async () => (await podsOf(other, 'handed')) === 1);
      assert.equal(await leader.role.end('SIGTERM'), 0);
      const since = performance.now();
      assert.deepEqual(await endpoints(other), [other.endpoint]);
      await other.kubectl('scale', 'deployment/handed', '--replicas=3');
      await waitFor('three pods', async () => (await podsOf(other, 'handed')) === 3, { intervalMs: 10 });
      const ms = performance.now() - since;
      t.diagnostic(`the other had acted ${Math.round(ms)} ms after the leader ended`);
      assert.ok(ms < 5_000, `${ms} ms: that is a lease running out`);
      await leader.role.start(ready);
      await waitFor('both endpoints', async () => (await endpoints(other)).length === 2);
    },
  );

  await context.test('a leader that freezes and thaws makes nothing double', async (t) => {
    await frozenLeader(scene, t);
  });
});

const deployments = Array.from({ length: 8 }, (_, i) => `load-${i}`);

/** Each has as many pods as it wants, and not one more. */
async function counts(master: Master): Promise<ReadonlyMap<string, number>> {
  const { items } = await master
    .config()
    .makeApiClient(CoreV1Api)
    .listNamespacedPod({ namespace: 'default' });
  return new Map(
    deployments.map((name) => [name, items.filter(({ metadata }) => metadata?.labels?.app === name).length]),
  );
}

async function frozenLeader(scene: Scene, t: TestContext): Promise<void> {
  const [leader, other] = await leaderOf(scene);
  for (const name of deployments)
    await other.kubectl('create', 'deployment', name, '--image=none', '--replicas=5');
  const scale = (replicas: number) =>
    other.kubectl('scale', ...deployments.map((name) => `deployment/${name}`), `--replicas=${replicas}`);
  const reached = async (replicas: number) => {
    const all = await counts(other);
    for (const [name, count] of all) assert.ok(count <= replicas, `${name} has ${count} pods of ${replicas}`);
    return [...all.values()].every((count) => count === replicas);
  };
  await waitFor('the first pods', () => reached(5));

  await scale(40);
  // In the middle of making pods.
  await waitFor(
    'some pods more',
    async () => [...(await counts(other)).values()].some((count) => count > 6),
    {
      intervalMs: 5,
    },
  );
  leader.role.freeze();
  const made = [...(await counts(other)).values()].reduce((sum, count) => sum + count, 0);
  const since = performance.now();
  await waitFor('the other to lead', async () => other.identity === (await holderAt(other)), {
    timeoutMs: 40_000,
  });
  const took = Math.round((performance.now() - since) / 1000);
  // It thaws while the other makes pods, with requests of its own half done.
  leader.role.thaw();
  await waitFor('all pods', () => reached(40), { timeoutMs: 60_000 });
  for (let i = 0; i < 20; i++) assert.ok(await reached(40), 'and it stays so');
  t.diagnostic(`frozen with ${made} of 320 pods made; the other led after ${took} s`);
  assert.ok(made < 320, 'it was frozen before its work was done');
  await waitFor('the thawed one to notice', () =>
    /lost the leadership|giving up the leadership/.test(leader.role.log),
  );
  await scale(2);
  await waitFor(
    'the other goes on leading',
    async () => {
      const all = await counts(other);
      return [...all.values()].every((count) => count === 2);
    },
    { timeoutMs: 60_000 },
  );
}
