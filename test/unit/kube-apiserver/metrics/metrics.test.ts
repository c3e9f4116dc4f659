/** metrics.k8s.io: answers that are made from the reports of node agents. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { NodeMetrics } from '../../../../src/api/metrics/v1beta1/node-metrics.ts';
import type { PodMetrics } from '../../../../src/api/metrics/v1beta1/pod-metrics.ts';
import { sampleOf } from '../../../../src/kube-apiserver/metrics/sample.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const root = '/apis/metrics.k8s.io/v1beta1';
const time = '2026-01-01T00:00:00Z';
const use = (cpu: number | undefined, memory = 1024 * 1024) => ({
  cpu: { time, ...(cpu !== undefined && { usageNanoCores: cpu }), usageCoreNanoSeconds: 1 },
  memory: { time, workingSetBytes: memory },
});

interface Items<T> {
  readonly items: readonly T[];
}

describe('metrics', () => {
  let server: TestServer;
  /** Answer of each node's agent. */
  let agents: Map<string, () => Response>;
  let asked: string[];
  const tell = (node: string, summary: object) => agents.set(node, () => Response.json(summary));
  beforeEach(async () => {
    [agents, asked] = [new Map(), []];
    server = await startTestServer({
      nodeConnection: async (node, path) => {
        asked.push(`${node} ${path}`);
        const answer = agents.get(node);
        if (!answer) throw new Error('no handler answers');
        return answer();
      },
    });
    for (const name of ['n1', 'n2'])
      await server.call('POST', '/api/v1/nodes', { metadata: { name, labels: { on: name } } });
  });
  afterEach(() => server.stop());

  async function makePod(name: string, nodeName: string, namespace = 'default'): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const spec = { nodeName, containers: ['c', 'd'].map((one) => ({ name: one, image: 'i' })) };
    const made = await server.call('POST', path, { metadata: { name, labels: { app: name } }, spec });
    assert.equal(made.status, 201, made.text);
    const pod = made.json<Pod>();
    await server.call('PUT', `${path}/${name}/status`, { ...pod, status: { phase: 'Running' } });
    return pod.metadata.uid;
  }
  const read = async <T>(path: string) => {
    const answer = await server.call('GET', `${root}${path}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<T>();
  };
  const podOf = (uid: string, ...containers: object[]) => ({
    podRef: { name: 'any', namespace: 'any', uid },
    containers,
  });

  test('are read-only, as discovery shows', async () => {
    const { resources } = (await read<{ resources: { name: string; verbs: string[] }[] }>('')) ?? {};
    assert.deepEqual(
      resources.map(({ name, verbs }) => [name, verbs]),
      [
        ['nodes', ['get', 'list']],
        ['pods', ['get', 'list']],
      ],
    );
    assert.equal((await server.call('POST', `${root}/nodes`, {})).status, 405);
    assert.equal((await server.call('DELETE', `${root}/nodes/n1`)).status, 405);
    assert.equal((await server.call('GET', `${root}/nodes?watch=true`)).status, 405);
  });

  test('of nodes are the metrics of the agents that answer', async () => {
    tell('n1', { node: use(250_000_000, 3 * 1024 * 1024 + 1), pods: [] });
    const { items } = await read<Items<NodeMetrics>>('/nodes');
    assert.deepEqual(
      items.map(({ metadata, timestamp, window, usage }) => [metadata.name, timestamp, window, usage]),
      [['n1', time, '10s', { cpu: '250000000n', memory: '3073Ki' }]],
    );
    assert.deepEqual(items[0]?.metadata.labels?.on, 'n1');
    assert.equal((await server.call('GET', `${root}/nodes/n2`)).status, 404);
    assert.equal((await read<NodeMetrics>('/nodes/n1')).usage.cpu, '250000000n');
  });

  test('of pods are the metrics of their running containers, by uid', async () => {
    const uid = await makePod('a', 'n1');
    await makePod('b', 'n1');
    tell('n1', {
      node: use(1),
      pods: [
        podOf(uid, { name: 'c', ...use(1_000_000) }, { name: 'd', ...use(2_000_000, 2048) }),
        podOf('of one that was deleted', { name: 'c', ...use(1) }),
      ],
    });
    const { items } = await read<Items<PodMetrics>>('/pods');
    assert.deepEqual(
      items.map(({ metadata: { name, namespace }, containers }) => [namespace, name, containers]),
      [
        [
          'default',
          'a',
          [
            { name: 'c', usage: { cpu: '1000000n', memory: '1024Ki' } },
            { name: 'd', usage: { cpu: '2000000n', memory: '2Ki' } },
          ],
        ],
      ],
    );
  });

  test('of pods have the time of their oldest reading, with init containers and without ended ones', async () => {
    const uid = await makePod('a', 'n1');
    const ended = await makePod('b', 'n1');
    const path = '/api/v1/namespaces/default/pods';
    const init = [{ name: 'first', image: 'i', restartPolicy: 'Always' }];
    const spec = { nodeName: 'n1', initContainers: init, containers: [{ name: 'c', image: 'i' }] };
    const made = await server.call('POST', path, { metadata: { name: 'c' }, spec });
    const sidecar = made.json<Pod>();
    await server.call('PUT', `${path}/c/status`, { ...sidecar, status: { phase: 'Running' } });
    const was = (await server.call('GET', `${path}/b`)).json<Pod>();
    await server.call('PUT', `${path}/b/status`, { ...was, status: { phase: 'Succeeded' } });
    // A pod without a node has no metrics, whatever its status is.
    const loose = await server.call('POST', path, {
      metadata: { name: 'd' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await server.call('PUT', `${path}/d/status`, { ...loose.json<Pod>(), status: { phase: 'Running' } });
    const earlier = { ...use(1), cpu: { ...use(1).cpu, time: '2025-12-31T23:59:50Z' } };
    tell('n1', {
      node: use(1),
      pods: [
        podOf(uid, { name: 'c', ...use(1) }, { name: 'd', ...earlier }),
        podOf(ended, { name: 'c', ...use(1) }),
        podOf(sidecar.metadata.uid, { name: 'first', ...use(0, 0) }, { name: 'c', ...use(1) }),
        podOf(loose.json<Pod>().metadata.uid, { name: 'c', ...use(1) }),
      ],
    });
    const { items } = await read<Items<PodMetrics & { kind: string; apiVersion: string }>>('/pods');
    assert.deepEqual(
      items.map(({ metadata: { name }, timestamp, window, containers }) => [
        ...[name, timestamp, window],
        containers.map((one) => one.name),
      ]),
      [
        ['a', '2025-12-31T23:59:50Z', '10s', ['c', 'd']],
        ['c', time, '10s', ['first', 'c']],
      ],
    );
    const one = await read<object>('/namespaces/default/pods/c');
    const { apiVersion, kind, metadata } = one as { apiVersion: string; kind: string; metadata: object };
    assert.deepEqual([apiVersion, kind], ['metrics.k8s.io/v1beta1', 'PodMetrics']);
    assert.ok(!('labels' in metadata), 'it has none');
    assert.ok(!('namespace' in (await read<NodeMetrics>('/nodes/n1')).metadata));
    assert.ok(asked.every((one) => one.startsWith('n1 ')));
  });

  test('of pods omit containers that the pod does not have', async () => {
    const [a, b] = [await makePod('a', 'n1'), await makePod('b', 'n2')];
    const { cpu, memory } = use(1);
    const many = Array.from({ length: 30_000 }, (_, n) => ({ name: `x${n}`, cpu: { ...cpu }, memory }));
    tell('n1', { node: use(1), pods: [podOf(a, ...many)] });
    tell('n2', { node: use(1), pods: [podOf(b, { name: 'c', ...use(7) }, { name: 'x', ...use(9) })] });
    const { items } = await read<Items<PodMetrics>>('/pods');
    assert.deepEqual(
      items.map(({ metadata, containers }) => [metadata.name, containers.map(({ name }) => name)]),
      [['b', ['c']]],
    );
  });

  test('query only the nodes of the selected pods', async () => {
    const [a, b] = [await makePod('a', 'n1'), await makePod('b', 'n2')];
    tell('n1', { node: use(1), pods: [podOf(a, { name: 'c', ...use(1) })] });
    tell('n2', { node: use(1), pods: [podOf(b, { name: 'c', ...use(1) })] });
    const names = async (path: string) =>
      (await read<Items<PodMetrics>>(path)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names('/namespaces/default/pods?labelSelector=app%3Da'), ['a']);
    assert.deepEqual(asked, ['n1 /stats/summary?only_cpu_and_memory=true']);
    assert.deepEqual(await names('/namespaces/default/pods?fieldSelector=spec.nodeName%3Dn2'), ['b']);
    assert.deepEqual(await names('/namespaces/other/pods'), []);
    assert.equal((await read<PodMetrics>('/namespaces/default/pods/b')).metadata.name, 'b');
    assert.equal((await server.call('GET', `${root}/namespaces/default/pods/c`)).status, 404);
  });

  test('query an agent once for all clients within two seconds', async () => {
    tell('n1', { node: use(1), pods: [] });
    tell('n2', { node: use(1), pods: [] });
    await Promise.all([read('/nodes'), read('/nodes')]);
    await read('/nodes/n1');
    assert.equal(asked.length, 2);
    await server.clock.advance(2000);
    await read('/nodes/n1');
    assert.equal(asked.length, 3);
  });

  test('query an agent again after a second if it has no rates yet', async () => {
    tell('n2', { node: use(1), pods: [] });
    agents.set('n1', () => Response.json({ node: use(asked.length > 1 ? 7 : undefined), pods: [] }));
    const answer = read<NodeMetrics>('/nodes/n1');
    while (asked.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    await server.clock.advance(1000);
    assert.equal((await answer).usage.cpu, '7n');
  });

  test('of an agent with an invalid answer, or none for five seconds, are omitted', async () => {
    agents.set('n1', () => new Response('{"node": 7, "pods": {"x": 1}}'));
    agents.set('n2', () => new Response('no', { status: 500 }));
    const answer = read<Items<NodeMetrics>>('/nodes');
    while (asked.length < 2) await new Promise(setImmediate);
    await new Promise(setImmediate);
    await server.clock.advance(1000);
    assert.deepEqual((await answer).items, []);
  });
});

describe('the answer of an agent', () => {
  test('is used if it has the right form, and otherwise rejected', () => {
    for (const wrong of [null, 7, [], {}, { node: null, pods: 'x' }, { pods: [{ podRef: 1 }, null] }])
      assert.deepEqual([sampleOf(wrong).node, sampleOf(wrong).pods.size], [undefined, 0]);
    const half = {
      podRef: { uid: 'u' },
      containers: [
        { name: 'a', ...use(1) },
        { name: 'b', ...use(undefined) },
      ],
    };
    assert.equal(sampleOf({ node: use(1), pods: [half] }).pods.get('u')?.containers, undefined);
    const twice = [[use(1)], { podRef: { uid: 'v' }, containers: [[]] }];
    assert.equal(sampleOf({ node: [use(1)], pods: twice }).node, undefined);
    assert.equal(
      sampleOf({ pods: [{ podRef: { uid: 'u' }, containers: [] }] }).pods.get('u')?.containers,
      undefined,
    );
    assert.deepEqual(sampleOf({ node: use(0, 0) }).node, { at: Date.parse(time), cpu: 0, memory: 0 });
    const negative = { cpu: { time, usageNanoCores: -1 }, memory: { workingSetBytes: 1 } };
    assert.equal(sampleOf({ node: negative }).node, undefined);
    for (const number of [1e308, 2 ** 53, 0.5])
      for (const one of [use(number), use(1, number)])
        assert.equal(sampleOf({ node: one }).node, undefined, `${number} is no quantity as clients read it`);
    for (const when of ['+010000-01-01T00:00:00Z', 'x', '']) {
      const { cpu, memory } = use(1);
      assert.equal(sampleOf({ node: { cpu: { ...cpu, time: when }, memory } }).node, undefined);
    }
  });

  test('lacks rates while a rate of a container or of the node is missing', () => {
    const whole = { podRef: { uid: 'u' }, containers: [{ name: 'a', ...use(1) }] };
    const half = { podRef: { uid: 'u' }, containers: [{ name: 'a', ...use(undefined) }] };
    const ended = { podRef: { uid: 'v' }, containers: [] };
    assert.equal(sampleOf({ node: use(1), pods: [whole, ended] }).lacksRates, false);
    assert.equal(sampleOf({ node: use(1), pods: [half] }).lacksRates, true);
    assert.equal(sampleOf({ node: use(undefined), pods: [whole] }).lacksRates, true);
  });
});
