import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { AppsV1Api, CoreV1Api, type V1Pod, Watch } from '@kubernetes/client-node';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster } from './harness/cluster.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { waitFor } from './harness/wait-for.ts';

await lockMachine();

test('kubectl and @kubernetes/client-node work unmodified', async (context) => {
  const tokens = join(makeDirectory('minik8s-e2e-tokens-'), 'tokens.csv');
  context.after(() => rmSync(dirname(tokens), { recursive: true }));
  writeFileSync(tokens, 'k33p-out,robot,u1,system:masters\nn0-rights,guest,u2\n', { mode: 0o600 });
  const cluster = await Cluster.start(context, { flags: [`--token-auth-file=${tokens}`] });
  const { kubectl } = cluster;
  const config = cluster.kubeConfig();
  const core = config.makeApiClient(CoreV1Api);

  await context.test('only the owner may read the administrator’s kubeconfig', () => {
    assert.equal(statSync(cluster.kubeconfig).mode & 0o777, 0o600);
  });

  await context.test(
    'a bearer token authenticates its user, and no other credential authenticates',
    async () => {
      const statusOf = async (authorization?: string) => {
        const ca = config.getCurrentCluster()?.caData ?? '';
        const options = { ca: Buffer.from(ca, 'base64'), headers: authorization ? { authorization } : {} };
        const answer = get(`${cluster.url}/api/v1/namespaces/default/pods`, options);
        const [response] = (await once(answer, 'response')) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      };
      assert.equal(await statusOf('Bearer k33p-out'), 200);
      assert.equal(await statusOf('Bearer n0-rights'), 403);
      assert.equal(await statusOf('Bearer wrong'), 401);
      assert.equal(await statusOf(), 401);
    },
  );

  await context.test(
    'client-node receives events when pods are created, become ready and are deleted',
    async () => {
      const events: [phase: string, name: string | undefined][] = [];
      const watch = await new Watch(config).watch(
        '/api/v1/namespaces/default/pods',
        {},
        (phase: string, pod: V1Pod) => events.push([phase, pod.metadata?.name]),
        () => undefined,
      );
      await deployHello(cluster);
      const pods = await readyPods(cluster, 3);
      const list = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=hello' });
      assert.deepEqual(
        list.items.map(({ metadata }) => metadata?.name).sort(),
        pods.map(({ metadata }) => metadata?.name).sort(),
      );
      const apps = config.makeApiClient(AppsV1Api);
      await apps.deleteNamespacedDeployment({ name: 'hello', namespace: 'default' });
      for (const { metadata } of pods) {
        await waitFor(`${metadata?.name} seen from ADDED to DELETED`, () => {
          const seen = events.filter(([, name]) => name === metadata?.name).map(([phase]) => phase);
          return seen[0] === 'ADDED' && seen.includes('MODIFIED') && seen.at(-1) === 'DELETED';
        });
      }
      watch.abort();
    },
  );

  await context.test(
    'client-node reads the object that it wrote, and a stale write is rejected',
    async () => {
      const [name, namespace] = ['settings', 'default'];
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: '1' } } });
      const first = await core.readNamespacedConfigMap({ name, namespace });
      const body = { ...first, data: { a: '2' } };
      const second = await core.replaceNamespacedConfigMap({ name, namespace, body });
      assert.notEqual(second.metadata?.resourceVersion, first.metadata?.resourceVersion);
      await assert.rejects(core.replaceNamespacedConfigMap({ name, namespace, body }), { code: 409 });
      assert.equal(await kubectl('get', 'configmap', name, '-o', 'jsonpath={.data.a}'), '2');
    },
  );

  await context.test('kubectl’s everyday verbs work', async () => {
    assert.match(await kubectl('version'), /Server Version: v1\./);
    assert.match(await kubectl('get', 'nodes'), /^e2e +Ready/m);
    assert.match(await kubectl('api-resources'), /^deployments +deploy +apps\/v1 +true +Deployment$/m);
    const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'team' } };
    for (const object of [team, one]) {
      const input = JSON.stringify(object);
      assert.equal((await kubectl.attempt(['apply', '-f', '-'], { input })).stderr, '');
    }
    await kubectl('-n', 'team', 'label', 'configmap', 'one', 'tier=front');
    assert.equal(await kubectl('get', 'cm', '-A', '-l', 'tier=front', '-o', 'name'), 'configmap/one\n');
    assert.match(await kubectl('-n', 'team', 'describe', 'configmap', 'one'), /^Labels: +tier=front$/m);
    await kubectl('delete', 'namespace', 'team', '--timeout=60s');
    const { code, stderr } = await kubectl.attempt(['-n', 'team', 'get', 'configmap', 'one']);
    assert.deepEqual([code, stderr], [1, 'Error from server (NotFound): namespaces "team" not found\n']);
  });

  await context.test('bad input is rejected with the field’s name, and changes nothing', async () => {
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bad' },
      spec: { containers: [{ name: 'Not_A_Name', image: 'minik8s/hello:1' }] },
    });
    const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 1);
    assert.match(stderr, /spec\.containers\[0\]\.name/);
    assert.equal((await kubectl.attempt(['get', 'pod', 'bad'])).code, 1);
  });
});
