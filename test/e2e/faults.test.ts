import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { Cluster } from './harness/cluster.ts';
import { containerOf, containersWith, docker } from './harness/docker.ts';
import {
  deployHello,
  everyPodAnswers,
  nameOf,
  page,
  readyPods,
  restartsOf,
  service,
} from './harness/hello.ts';
import { waitFor } from './harness/wait-for.ts';

async function containersOf(pods: readonly V1Pod[]): Promise<string[]> {
  return (await Promise.all(pods.map((pod) => containerOf(nameOf(pod), 'hello')))).sort();
}

await lockMachine();

test('killed parts restart, and the other parts keep running', async (context) => {
  const cluster = await Cluster.start(context);
  const { kubectl } = cluster;
  await deployHello(cluster);
  const pods = await readyPods(cluster, 3);
  const address = `${(await service(cluster)).spec?.clusterIP}:80`;
  await everyPodAnswers(address, pods);

  await context.test(
    'pods and Services continue while minik8s is killed, and its restart manages the same containers',
    async () => {
      const before = await containersOf(pods);
      await cluster.end('SIGKILL');
      await everyPodAnswers(address, pods);
      assert.deepEqual(await containersOf(pods), before);
      await cluster.up();
      const after = await readyPods(cluster, 3);
      assert.deepEqual(after.map(nameOf).sort(), pods.map(nameOf).sort());
      assert.deepEqual(await containersOf(after), before);
      assert.deepEqual(after.map(restartsOf), [0, 0, 0]);
      await everyPodAnswers(address, after);
    },
  );

  await context.test(
    'a container that is killed while minik8s is stopped runs again after the start',
    async () => {
      const [pod] = await readyPods(cluster, 3);
      assert.ok(pod);
      await cluster.end('SIGKILL');
      await docker('kill', await containerOf(nameOf(pod), 'hello'));
      await cluster.up();
      await waitFor('the container back', async () => {
        const now = await kubectl.json<V1Pod>('get', 'pod', nameOf(pod));
        return restartsOf(now) === 1;
      });
      await everyPodAnswers(address, await readyPods(cluster, 3));
    },
  );

  await context.test('a killed etcd is started again with its data, and writes continue', async () => {
    const [etcd] = cluster.processes('etcd');
    assert.ok(etcd, 'etcd runs from the data directory');
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after' } });
    process.kill(etcd, 'SIGKILL');
    assert.match(await page(address), /^hello from /);
    await waitFor('a write after etcd came back', async () => {
      const { code } = await kubectl.attempt(['apply', '-f', '-'], { input });
      return code === 0;
    });
    assert.deepEqual((await readyPods(cluster, 3)).map(nameOf).sort(), pods.map(nameOf).sort());
    await kubectl('scale', 'deployment/hello', '--replicas=4');
    await everyPodAnswers(address, await readyPods(cluster, 4));
    await kubectl('scale', 'deployment/hello', '--replicas=3');
    await readyPods(cluster, 3);
  });

  await context.test(
    'a pod whose containers were all removed through Docker becomes complete again',
    async () => {
      const [pod] = await readyPods(cluster, 3);
      assert.ok(pod);
      const container = await containerOf(nameOf(pod), 'hello');
      // A sandbox is created before it is assigned to a pod, so only the container names its sandbox.
      const format = '{{index .Config.Labels "minik8s.io/sandbox"}}';
      const sandbox = await docker('inspect', '--format', format, container);
      await docker('rm', '--force', container, sandbox);
      await waitFor('a new container', async () => {
        const [now] = await containersWith([`io.kubernetes.pod.uid=${pod.metadata?.uid}`]);
        return now !== undefined && now !== container;
      });
      await everyPodAnswers(address, await readyPods(cluster, 3));
    },
  );

  await context.test('a stop and a start of minik8s restart no container', async () => {
    const running = await readyPods(cluster, 3);
    const before = await containersOf(running);
    assert.equal(await cluster.end('SIGTERM'), 0);
    await everyPodAnswers(address, running);
    await cluster.up();
    assert.deepEqual(await containersOf(await readyPods(cluster, 3)), before);
  });
});
