import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1NodeList, V1Pod, V1Service } from '@kubernetes/client-node';
import { makeDeepTree } from '../fixtures/deep-tree.ts';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { Cluster } from './harness/cluster.ts';
import { containerOf, containersWith, docker } from './harness/docker.ts';
import {
  deleteHello,
  deployHello,
  everyPodAnswers,
  nameOf,
  page,
  readyPods,
  restartsOf,
  service,
} from './harness/hello.ts';
import { childrenOf } from './harness/processes.ts';
import { waitFor } from './harness/wait-for.ts';
import { watchPrograms } from './harness/watched-programs.ts';

await lockMachine();

test('a Deployment behind a Service works from its creation to its deletion', async (context) => {
  const programs = watchPrograms(['nft', 'ip', 'nsenter', 'bridge', 'iptables', 'conntrack']);
  const cluster = await Cluster.start(context, { path: programs.path });
  // Before that, minik8s inspects the machine once.
  programs.seen();
  const { kubectl } = cluster;
  let address = '';

  await context.test('three replicas become ready, each with an address of its own', async () => {
    await deployHello(cluster);
    const pods = await readyPods(cluster, 3);
    const addresses = new Set(pods.map(({ status }) => status?.podIP));
    assert.equal(addresses.size, 3);
    for (const ip of addresses) assert.match(ip ?? '', /^10\.244\.0\.\d+$/);
  });

  await context.test(
    'kubectl explain shows the description of a field that the executable contains',
    async () => {
      assert.match(await kubectl('explain', 'pod.spec.hostname'), /\nDESCRIPTION:\n +\S+( \S+){3}/);
    },
  );

  await context.test('a single shell starts the programs that configure pods and Services', async () => {
    await waitFor('the rules of the Service', () =>
      service(cluster).then(({ spec }) => page(`${spec?.clusterIP}`)),
    );
    const seen = programs.seen();
    for (const expected of ['ip sh', 'nft sh', 'nsenter sh']) assert.ok(seen.includes(expected), expected);
    assert.deepEqual(
      seen.filter((entry) => !entry.endsWith(' sh')),
      [],
    );
    await waitFor(
      'a single shell',
      () => childrenOf(cluster.pid).filter((name) => name === 'sh').length === 1,
    );
  });

  await context.test('the cluster IP reaches each pod, from the host and from a pod', async () => {
    const { spec } = await service(cluster);
    assert.match(spec?.clusterIP ?? '', /^10\.96\.\d+\.\d+$/);
    address = `${spec?.clusterIP}:80`;
    const pods = await readyPods(cluster, 3);
    await everyPodAnswers(address, pods);
    const [pod] = pods;
    assert.ok(pod);
    // A pod reaches every endpoint, including itself.
    const inside = await containerOf(nameOf(pod), 'hello');
    const ask = () => docker('exec', inside, 'wget', '-qO-', `http://${address}/`);
    const own = `hello from ${nameOf(pod)}`;
    await waitFor('a pod reaching itself through its Service', async () => (await ask()) === own);
    await waitFor('a pod reaching another pod', async () => (await ask()) !== own);
  });

  await context.test('a container has the address of the API server', async () => {
    const [pod] = await readyPods(cluster, 3);
    assert.ok(pod);
    const env = await docker(
      'inspect',
      '-f',
      '{{json .Config.Env}}',
      await containerOf(nameOf(pod), 'hello'),
    );
    assert.match(env, /"KUBERNETES_SERVICE_HOST=10\.96\.0\.1"/);
    assert.match(env, /"KUBERNETES_SERVICE_PORT_HTTPS=443"/);
  });

  await context.test('a killed container is restarted in the same pod', async () => {
    const [pod] = await readyPods(cluster, 3);
    assert.ok(pod);
    const killed = await containerOf(nameOf(pod), 'hello');
    await docker('kill', killed);
    const back = await waitFor('the container back', async () => {
      const now = await kubectl.json<V1Pod>('get', 'pod', nameOf(pod));
      return restartsOf(now) === restartsOf(pod) + 1 && now;
    });
    assert.equal(back.metadata?.uid, pod.metadata?.uid);
    assert.equal(back.status?.podIP, pod.status?.podIP);
    assert.equal(back.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    assert.notEqual(await containerOf(nameOf(pod), 'hello'), killed);
    await everyPodAnswers(address, await readyPods(cluster, 3));
  });

  await context.test('a deleted pod is replaced', async () => {
    const [pod] = await readyPods(cluster, 3);
    assert.ok(pod);
    await kubectl('delete', 'pod', nameOf(pod), '--wait=true', '--timeout=60s');
    const names = (await readyPods(cluster, 3)).map(nameOf);
    assert.ok(!names.includes(nameOf(pod)));
    assert.deepEqual(await containersWith([`io.kubernetes.pod.uid=${pod.metadata?.uid}`], true), []);
  });

  await context.test('a node port answers on the node', async () => {
    await kubectl('patch', 'service', 'hello', '-p', '{"spec":{"type":"NodePort"}}');
    const port = (await service(cluster)).spec?.ports?.[0]?.nodePort ?? 0;
    assert.ok(port >= 30000 && port <= 32767, `node port ${port}`);
    const [node] = (await kubectl.json<V1NodeList>('get', 'nodes')).items;
    const host = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    await waitFor('the node port', async () => (await page(`${host}:${port}`)).startsWith('hello from '));
    await kubectl('patch', 'service', 'hello', '-p', '{"spec":{"type":"ClusterIP"}}');
    await waitFor('the node port closed', () =>
      page(`${host}:${port}`).then(
        () => false,
        () => true,
      ),
    );
  });

  await context.test('a load balancer answers on its own port at the address of the node', async () => {
    const expose = ['expose', 'deployment', 'hello', '--name=front', '--type=LoadBalancer'];
    await kubectl(...expose, '--port=8088', '--target-port=8080');
    const ip = await waitFor('the address', async () => {
      const { status } = await kubectl.json<V1Service>('get', 'service', 'front');
      return status?.loadBalancer?.ingress?.[0]?.ip ?? false;
    });
    await waitFor('an answer', async () => (await page(`${ip}:8088`)).startsWith('hello from '));
    await kubectl('delete', 'service', 'front');
  });

  await context.test('a rollout replaces every pod, and can be undone', async () => {
    const old = (await readyPods(cluster, 3)).map(nameOf);
    await kubectl('set', 'env', 'deployment/hello', 'GREETING=welcome');
    await kubectl('rollout', 'status', 'deployment/hello', '--timeout=60s');
    const pods = await readyPods(cluster, 3);
    assert.deepEqual(
      pods.map(nameOf).filter((name) => old.includes(name)),
      [],
    );
    await waitFor('the new greeting', async () => (await page(address)).startsWith('welcome from '));
    await kubectl('rollout', 'undo', 'deployment/hello');
    await kubectl('rollout', 'status', 'deployment/hello', '--timeout=60s');
    await everyPodAnswers(address, await readyPods(cluster, 3));
  });

  await context.test('scaling up and down changes the number of pods', async () => {
    await kubectl('scale', 'deployment/hello', '--replicas=5');
    await everyPodAnswers(address, await readyPods(cluster, 5));
    await kubectl('scale', 'deployment/hello', '--replicas=1');
    await everyPodAnswers(address, await readyPods(cluster, 1));
  });

  await context.test('a pod whose program ends succeeds, and its log is kept', async () => {
    const image = ['--image=minik8s/hello:1', '--image-pull-policy=IfNotPresent', '--restart=Never'];
    await kubectl('run', 'once', ...image, '--', 'sh', '-c', 'echo did it; exit 0');
    await waitFor('phase Succeeded', async () => {
      const { status } = await kubectl.json<V1Pod>('get', 'pod', 'once');
      return status?.phase === 'Succeeded';
    });
    assert.equal(await kubectl('logs', 'once'), 'did it\n');
    await kubectl('delete', 'pod', 'once');
  });

  await context.test(
    'deleting the Deployment and the Service leaves no pod, no container and no open port',
    async () => {
      await deleteHello(cluster);
      await waitFor('no pods', async () => (await kubectl('get', 'pods', '-o', 'name')) === '');
      await waitFor('no containers', async () => {
        const [id] = await containersWith(['io.kubernetes.container.name=hello'], true);
        if (id !== undefined)
          throw new Error(await docker('ps', '--all', '--no-trunc', '--filter', `id=${id}`));
        return true;
      });
      assert.equal(
        await kubectl('get', 'endpointslices', '-l', 'kubernetes.io/service-name=hello', '-o', 'name'),
        '',
      );
      await assert.rejects(page(address));
    },
  );

  await context.test('minik8s ends with status 0 on SIGTERM', async () => {
    assert.equal(await cluster.end('SIGTERM'), 0);
    assert.deepEqual(cluster.processes('etcd'), []);
  });

  await context.test('reset removes everything that minik8s created on the machine', async () => {
    const volume = join(cluster.dataDir, 'kubelet', 'pods', 'left', 'volumes', 'v');
    await mkdir(volume, { recursive: true });
    makeDeepTree(volume);
    const plugins = ['--device-plugin-dir', cluster.pluginDirectory];
    assert.equal(existsSync(cluster.pluginDirectory), true);
    await cluster.run('reset', '--yes', '--data-dir', cluster.dataDir, ...plugins);
    assert.equal(existsSync(cluster.pluginDirectory), false);
    const nothing = { containers: [], tables: [], links: [], rules: [], routes: [] };
    assert.deepEqual(await cluster.leftovers(), nothing);
    assert.equal(existsSync(cluster.dataDir), false);
  });
});
