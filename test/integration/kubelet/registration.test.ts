/**
 * The Node object as the API server sees it, and the agent while the API server or the engine is unavailable.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { createKubelet, type KubeletOptions } from '../../../src/kubelet/kubelet.ts';
import { localVolumesDirectory } from '../../../src/kubelet/volumes/local-volumes.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { MoodyRuntime } from './moody-runtime.ts';
import { eventually, isReady } from './node-harness.ts';
import { facts, paperNetwork } from './simulated-node.ts';

describe('node agent', () => {
  let server: TestServer;
  let dataDir: string;
  let runtime: MoodyRuntime;
  let agent: { readonly stop: AbortController; readonly running: Promise<void> };

  before(async () => {
    server = await startTestServer({ clock: systemClock });
  });
  after(() => server.stop());
  beforeEach(async (context) => {
    dataDir = await mkdtemp(join(tmpdir(), 'minik8s-node-'));
    runtime = new MoodyRuntime({
      clock: systemClock,
      random: new SeededRandom(1),
      images: new Map([['app:1', { present: true }]]),
    });
    (context as { after(fn: () => Promise<void>): void }).after(async () => {
      agent.stop.abort();
      await agent.running.catch(() => undefined);
      await rm(dataDir, { recursive: true });
    });
  });

  function start(nodeName: string, more: Omit<Partial<KubeletOptions>, 'services'> = {}): void {
    const random = new SeededRandom(2);
    const client = more.client ?? createClient(inProcessTransport(server.handlerFor(admin)));
    const stop = new AbortController();
    const kubelet = createKubelet({
      policies: undefined,
      client,
      informers: createInformerFactory({ client, clock: systemClock, random, log: silentLogger }),
      services: new ScriptedInformers().informerFor(serviceResource),
      events: { event() {} },
      runtime,
      network: paperNetwork(),
      exec: async () => ({ stdout: '', stderr: '' }),
      clock: systemClock,
      random,
      log: silentLogger,
      nodeName,
      nodeIP: '192.0.2.7',
      dataDir,
      facts,
      readPauseArchive: async () => new Uint8Array(),
      podCIDR: '10.9.0.0/24',
      readUsage: async () => plenty,
      ...more,
    });
    agent = { stop, running: kubelet.run(stop.signal) };
    agent.running.catch(() => undefined);
  }

  const condition = (node: Node) => node.status?.conditions?.find(({ type }) => type === 'Ready');
  it('reports at once that it is available after it was considered lost', async () => {
    // No heartbeat comes meanwhile.
    start('lost-and-found', { heartbeatMs: 3_600_000 });
    const { status } = await until('lost-and-found', 'True');
    const conditions = status?.conditions?.map((one) => ({ ...one, status: 'Unknown' }));
    const path = '/api/v1/nodes/lost-and-found/status';
    const headers = { 'content-type': 'application/merge-patch+json' };
    assert.equal((await server.call('PATCH', path, { status: { conditions } }, { headers })).status, 200);
    await until('lost-and-found', 'True');
  });

  const node = async (name: string) => (await server.call('GET', `/api/v1/nodes/${name}`)).json<Node>();
  const until = (name: string, status: 'True' | 'False') =>
    eventually(async () => {
      const found = await node(name);
      assert.equal(condition(found)?.status, status);
      return found;
    });
  const create = async (name: string, nodeName: string, volumes: readonly object[] = []) => {
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        nodeName,
        volumes,
        containers: [
          {
            name: 'main',
            image: 'app:1',
            volumeMounts: volumes.map((_, index) => ({ name: `v${index}`, mountPath: `/v${index}` })),
          },
        ],
      },
    };
    const answer = await server.call('POST', '/api/v1/namespaces/default/pods', body);
    assert.equal(answer.status, 201, answer.text);
  };
  const ready = (name: string) =>
    eventually(async () => {
      const { json } = await server.call('GET', `/api/v1/namespaces/default/pods/${name}`);
      const pod = json<Pod>();
      assert.ok(isReady(pod), JSON.stringify(pod.status));
      return pod;
    });

  it('removes the empty folders of unfinished volumes, and nothing else', async () => {
    const folder = (name: string) => join(localVolumesDirectory(dataDir), name);
    for (const name of ['..new-aBc123', '..new-full/data', 'pvc-1/data', 'pvc-2'])
      await mkdir(folder(name), { recursive: true });
    const log = new RecordingLogger();
    start('drafts', { log });
    await until('drafts', 'True');
    assert.deepEqual((await readdir(folder(''))).sort(), ['..new-full', 'pvc-1', 'pvc-2']);
    // The agent's own unfinished folders are empty: one with content is left to the user, with a warning.
    const said = log.of('warn').filter(({ message }) => message.includes('folders of volumes'));
    assert.equal(said.length, 1);
  });

  it('registers with the properties of the machine, and renews its lease', async () => {
    start('a', { labels: { zone: 'z1' }, taints: [{ key: 'k', effect: 'NoSchedule' }], server: undefined });
    const found = await until('a', 'True');
    assert.equal(found.metadata.labels?.['kubernetes.io/hostname'], 'a');
    assert.equal(found.metadata.labels?.['kubernetes.io/arch'], 'amd64');
    assert.equal(found.metadata.labels?.zone, 'z1');
    assert.equal(found.spec?.podCIDR, '10.9.0.0/24');
    assert.deepEqual(
      found.spec?.taints?.map(({ key }) => key),
      ['k'],
    );
    assert.deepEqual(found.status?.capacity, {
      cpu: '2',
      memory: '8Gi',
      'ephemeral-storage': '1Ti',
      pods: '110',
    });
    assert.deepEqual(found.status?.addresses, [
      { type: 'InternalIP', address: '192.0.2.7' },
      { type: 'Hostname', address: 'a' },
    ]);
    assert.equal(found.status?.nodeInfo?.containerRuntimeVersion, 'docker://20.10.24');
    await eventually(async () => {
      const { status, json } = await server.call(
        'GET',
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a',
      );
      assert.equal(status, 200);
      assert.equal(json<{ spec: { holderIdentity: string } }>().spec.holderIdentity, 'a');
    });
  });

  it('records events when it starts, is ready, is cordoned and is uncordoned', async () => {
    const told: string[] = [];
    const events = {
      event: (object: KubeObject, type: string, reason: string, message: string) => {
        if (object.kind === 'Node') told.push(`${type} ${reason} ${message}`);
      },
    };
    runtime.up = false;
    start('telling', { events });
    await until('telling', 'False');
    assert.deepEqual(told, ['Normal Starting Starting kubelet.']);
    runtime.up = true;
    await until('telling', 'True');
    const close = (unschedulable: boolean | null) =>
      server.call(
        'PATCH',
        '/api/v1/nodes/telling',
        { spec: { unschedulable } },
        {
          headers: { 'content-type': 'application/merge-patch+json' },
        },
      );
    const now = (reason: string) => `Normal ${reason} Node telling status is now: ${reason}`;
    const expected = ['Normal Starting Starting kubelet.', now('NodeReady')];
    for (const [closed, reason] of [
      [true, 'NodeNotSchedulable'],
      [null, 'NodeSchedulable'],
    ] as const) {
      assert.equal((await close(closed)).status, 200);
      expected.push(now(reason));
      await eventually(async () => assert.deepEqual(told, expected));
    }
  });

  it('takes over an existing Node with its labels and taints, and leaves later changes of the taints to other clients', async () => {
    const made = {
      metadata: { name: 'made', labels: { rack: 'r' } },
      spec: { taints: [{ key: 'k', effect: 'NoExecute' }] },
    };
    const answer = await server.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...made });
    assert.equal(answer.status, 201, answer.text);
    const own = { labels: { zone: 'z1' }, taints: [{ key: 'own', effect: 'NoSchedule' as const }] };
    start('made', own);
    const taken = await until('made', 'True');
    const { rack, zone } = taken.metadata.labels ?? {};
    assert.deepEqual({ rack, zone }, { rack: 'r', zone: 'z1' });
    assert.deepEqual(
      taken.spec?.taints?.map(({ key }) => key),
      ['k', 'own'],
    );
    agent.stop.abort();
    await agent.running;
    const patch = { spec: { taints: null } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await server.call('PATCH', '/api/v1/nodes/made', patch, { headers });
    start('made', { ...own, labels: { zone: 'z2' } });
    await eventually(async () => assert.equal((await node('made')).metadata.labels?.zone, 'z2'));
    assert.equal((await node('made')).spec?.taints, undefined);
  });

  it('sets the configured pod range on a Node that has none, and keeps an existing range', async () => {
    const make = async (name: string, spec: object) => {
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec };
      const answer = await server.call('POST', '/api/v1/nodes', body);
      assert.equal(answer.status, 201, answer.text);
    };
    await make('empty', {});
    start('empty', { podCIDR: '10.9.7.0/24' });
    assert.equal((await until('empty', 'True')).spec?.podCIDR, '10.9.7.0/24');
    agent.stop.abort();
    await agent.running;
    await rm(join(dataDir, 'checkpoint.json'), { force: true });
    await make('given', { podCIDR: '10.9.8.0/24' });
    const network = paperNetwork();
    const used: string[] = [];
    const log = new RecordingLogger();
    start('given', {
      podCIDR: '10.9.9.0/24',
      network: {
        ...network,
        setUp: async (range) => {
          used.push(range);
          await network.setUp(range);
        },
      },
      log,
    });
    assert.equal((await until('given', 'True')).spec?.podCIDR, '10.9.8.0/24');
    assert.deepEqual([...new Set(used)], ['10.9.8.0/24']);
    assert.ok(
      log.lines.some(({ message }) =>
        /has the pod range 10\.9\.8\.0\/24, not pod-cidr 10\.9\.9/.test(message),
      ),
      JSON.stringify(log.lines),
    );
  });

  it('reports nothing more when its Node is removed, until a new one exists', async () => {
    let removals = 0;
    start('f', { onRemoved: () => removals++ });
    const first = await until('f', 'True');
    await server.call('DELETE', '/api/v1/nodes/f');
    await eventually(async () => assert.equal(removals, 1));
    const again = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'f' } };
    // The agent would have created the Node again at once, as it does without `onRemoved`.
    assert.equal((await server.call('POST', '/api/v1/nodes', again)).status, 201);
    const second = await until('f', 'True');
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    assert.equal(second.metadata.labels?.['kubernetes.io/hostname'], 'f');
    assert.equal(removals, 1);
  });

  it('registers again when its Node is deleted, unless onRemoved is set', async () => {
    start('g');
    const first = await until('g', 'True');
    await server.call('DELETE', '/api/v1/nodes/g');
    await eventually(async () => {
      const second = await node('g');
      assert.ok(second.metadata.uid && second.metadata.uid !== first.metadata.uid);
    });
  });

  it('waits for its podCIDR if none is configured', async () => {
    start('b', { podCIDR: undefined });
    const waiting = await until('b', 'False');
    assert.match(condition(waiting)?.message ?? '', /podCIDR|has not answered/);
    const patch = { spec: { podCIDR: '10.9.0.0/24' } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await server.call('PATCH', '/api/v1/nodes/b', patch, { headers });
    assert.equal(answer.status, 200, answer.text);
    await until('b', 'True');
  });

  it('is not ready while the engine is unreachable, and restores its pods afterwards', async () => {
    start('c');
    await until('c', 'True');
    await create('survivor', 'c');
    const before = await ready('survivor');
    runtime.goAway();
    const away = await until('c', 'False');
    assert.equal(condition(away)?.reason, 'KubeletNotReady');
    // All containers ended meanwhile, as when dockerd is killed.
    for (const { id } of await runtime.list()) runtime.exit(id, 137);
    runtime.up = true;
    await until('c', 'True');
    const again = await eventually(async () => {
      const pod = await ready('survivor');
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 1);
      return pod;
    });
    assert.notEqual(
      again.status?.containerStatuses?.[0]?.containerID,
      before.status?.containerStatuses?.[0]?.containerID,
    );
  });

  it('starts a pod that its engine did not support, once an engine does', async () => {
    start('h');
    await until('h', 'True');
    await create('waiting', 'h', [{ name: 'v0', image: { reference: 'app:1' } }]);
    await eventually(async () => {
      const { json } = await server.call('GET', '/api/v1/namespaces/default/pods/waiting');
      const [first] = json<Pod>().status?.containerStatuses ?? [];
      assert.match(first?.state?.waiting?.message ?? '', /image \(needs Docker 28 or newer on the node\)$/);
    });
    runtime.goAway();
    await until('h', 'False');
    Object.assign(runtime, { up: true, canMountImages: true });
    await until('h', 'True');
    await ready('waiting');
  });

  it('keeps its pods across its own restart while the API server is unreachable', async () => {
    start('d');
    await until('d', 'True');
    await create('kept', 'd');
    await ready('kept');
    agent.stop.abort();
    await agent.running;
    const path = join(dataDir, 'checkpoint.json');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.match(await readFile(path, 'utf8'), /"kept"/);
    const containers = (await runtime.list()).filter(({ kind }) => kind === 'container');
    // The machine restarts: nothing runs any more.
    for (const { id } of await runtime.list()) await runtime.remove(id);
    const dead = createClient(
      inProcessTransport(
        async () => new Response('{}', { status: 503, headers: { 'content-type': 'application/json' } }),
      ),
    );
    start('d', { client: dead, podCIDR: undefined });
    await eventually(async () => {
      const now = (await runtime.list()).filter(
        ({ kind, state }) => kind === 'container' && state === 'running',
      );
      assert.equal(now.length, containers.length);
    });
  });

  it('rejects an engine that is too old, with a message of one line', async () => {
    runtime.apiVersion = '1.40';
    start('e');
    await assert.rejects(agent.running, {
      message: 'Docker 20.10.24 is too old: its API is 1.40, minik8s needs 1.41 (Docker 20.10) or newer',
    });
  });
});
