import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { Cluster } from './harness/cluster.ts';
import { deployHello, nameOf, readyPods, restartsOf, service } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Returns the status of the node's Ready condition. */
async function readiness({ kubectl, nodeName }: Cluster) {
  const node = await kubectl.json<V1Node>('get', 'node', nodeName);
  return node.status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Returns the full IDs of all running containers of hello, sorted. */
async function hellosOf(host: Host): Promise<string[]> {
  const filter = 'label=io.kubernetes.container.name=hello';
  const ids = await host.docker('ps', '--quiet', '--no-trunc', '--filter', filter);
  return ids.split('\n').filter(Boolean).sort();
}

async function everyPodAnswersOn(host: Host, address: string, pods: readonly V1Pod[]): Promise<void> {
  const expected = pods.map((pod) => `hello from ${nameOf(pod)}`).sort();
  const seen = new Set<string>();
  await waitFor(`an answer from each of ${expected.join(', ')}`, async () => {
    seen.add(await host.page(address));
    return expected.every((answer) => seen.has(answer));
  });
  assert.deepEqual([...seen].sort(), expected);
}

const engines = [
  { what: 'its containers end with it or at its next start', dockerFlags: [], restarted: true },
  { what: 'its containers live on (--live-restore)', dockerFlags: ['--live-restore'], restarted: false },
];

for (const { what, dockerFlags, restarted } of engines) {
  test(`pods recover when dockerd is killed with kill -9; ${what}`, async (context) => {
    const host = await Host.start(context, { dockerFlags });
    const cluster = await Cluster.start(context, { host });
    await deployHello(cluster);
    const pods = await readyPods(cluster, 3);
    const address = `${(await service(cluster)).spec?.clusterIP}:80`;
    await everyPodAnswersOn(host, address, pods);
    const before = await hellosOf(host);

    await context.test('the node is NotReady while the engine is down', async () => {
      await host.killDocker();
      const remedy = troubleText('it does not run');
      const condition = await waitFor('the node not ready', async () => {
        const ready = await readiness(cluster);
        return ready?.status === 'False' && remedy.test(ready.message ?? '') && ready;
      });
      assert.match(condition.message ?? '', /^Docker [^\n]+$/);
      assert.match((await cluster.kubectl.attempt(['logs', 'deployment/hello'])).stderr, remedy);
      // A line for each lost container would hide the line with the cause.
      assert.doesNotMatch(cluster.log, /cannot inspect a container/);
      if (!restarted) assert.match(await host.page(address), /^hello from /);
    });

    await context.test('requests that need the engine wait during the outage', async () => {
      const { kubectl } = cluster;
      await kubectl('scale', 'deployment/hello', '--replicas=4');
      await waitFor('a fourth pod', async () => {
        const names = await kubectl('get', 'pods', '-l', 'app=hello', '-o', 'name');
        return names.trim().split('\n').length === 4;
      });
    });

    await context.test(
      'after the restart of the engine each pod runs once, and the Service answers',
      async () => {
        await host.startDocker();
        await waitFor('the node ready', async () => (await readiness(cluster))?.status === 'True');
        const after = await readyPods(cluster, 4, 60_000);
        const known = pods.map(nameOf);
        assert.deepEqual(
          known.filter((name) => !after.some((pod) => nameOf(pod) === name)),
          [],
        );
        for (const pod of after.filter((candidate) => known.includes(nameOf(candidate)))) {
          assert.equal(restartsOf(pod), restarted ? 1 : 0, nameOf(pod));
        }
        await everyPodAnswersOn(host, address, after);
        const now = await hellosOf(host);
        assert.equal(now.length, 4);
        assert.deepEqual(
          before.filter((id) => now.includes(id)),
          restarted ? [] : before,
        );
      },
    );
  });
}
