/**
 * Pods from files and their mirror pods in the API: over the simulated engine, with restarts of the agent and
 * outages of the API server.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { StaticPods } from '../../../src/kubelet/node/static-pods.ts';
import type { PodWorkers } from '../../../src/kubelet/pods/pod-workers.ts';
import type { RuntimeCache } from '../../../src/kubelet/runtime/runtime-cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { eventually } from './node-harness.ts';
import { nodeName, type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const mirrorKey = 'kubernetes.io/config.mirror';
const path = '/api/v1/namespaces/default/pods/web-node-1';
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
const manifest = (image = 'app:1', more = '') => `apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  containers: [{name: main, image: "${image}"}]
${more}`;

describe('static pods', { timeout: 300_000 }, () => {
  let node: SimulatedNode;
  let directory: string;
  let log: RecordingLogger;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-static-'));
    node = await startSimulatedNode();
    log = new RecordingLogger();
  });
  afterEach(async () => {
    await node.close();
    await rm(directory, { recursive: true, force: true });
  });

  const said = () => log.lines.map(({ message }) => message);
  const start = () => void node.start({ podManifestPath: directory, log });
  const write = async (name: string, text: string) => {
    // Renames the file into place, as editors and tools do.
    await writeFile(join(directory, `.${name}`), text);
    await rename(join(directory, `.${name}`), join(directory, name));
  };
  const mirror = (test: (pod: Pod) => boolean = isReady) => node.waitFor('web-node-1', test);
  const isGone = () =>
    eventually(async () => assert.equal((await node.server.call('GET', path)).status, 404));

  it('are run, and shown in the API with their status', async () => {
    await write('web.yaml', manifest());
    start();
    const { metadata, spec, status } = await mirror();
    const { uid } = (await node.node()).metadata;
    assert.deepEqual(metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true },
    ]);
    assert.equal(metadata.annotations?.['kubernetes.io/config.source'], 'file');
    assert.equal(metadata.annotations?.[mirrorKey], metadata.annotations?.['kubernetes.io/config.hash']);
    assert.deepEqual([spec.nodeName, metadata.labels], [nodeName, { app: 'web' }]);
    assert.equal(status?.phase, 'Running');
    assert.match(status?.containerStatuses?.[0]?.containerID ?? '', /^docker:\/\//);
    assert.equal((await node.running('web-node-1')).length, 1);
  });

  it('get their mirror pod again after its deletion, and keep running', async () => {
    await write('web.yaml', manifest());
    start();
    const first = await mirror();
    const running = await node.running('web-node-1');
    for (const grace of ['', '?gracePeriodSeconds=0']) {
      const before = (await mirror()).metadata.uid;
      await node.server.call('DELETE', path + grace);
      await mirror((pod) => pod.metadata.uid !== before && isReady(pod));
    }
    assert.notEqual((await mirror()).metadata.uid, first.metadata.uid);
    assert.deepEqual(await node.running('web-node-1'), running);
  });

  it('are replaced when their file changes, and end when it is removed', async () => {
    start();
    await node.condition('Ready').catch(() => undefined);
    await write('web.yaml', manifest());
    const first = (await mirror()).metadata.annotations?.[mirrorKey];
    await write('web.yaml', manifest('app:2'));
    const second = await mirror((pod) => pod.spec.containers[0]?.image === 'app:2' && isReady(pod));
    assert.notEqual(second.metadata.annotations?.[mirrorKey], first);
    assert.equal((await node.running('web-node-1')).length, 1, 'the first has ended');
    await rm(join(directory, 'web.yaml'));
    await isGone();
    await eventually(async () => assert.deepEqual(await node.running('web-node-1'), []));
  });

  it('of the same name run one after the other, never at the same time', async () => {
    await node.close();
    node = await startSimulatedNode(() => 'ignore');
    await write('web.yaml', manifest('app:1', '  terminationGracePeriodSeconds: 1'));
    start();
    await mirror();
    const [old] = await node.running('web-node-1');
    await write('web.yaml', manifest('app:2', '  terminationGracePeriodSeconds: 1'));
    await mirror((pod) => pod.spec.containers[0]?.image === 'app:2');
    assert.deepEqual(await node.running('web-node-1'), [old], 'the program of the first still has its time');
    const pod = await mirror((now) => now.spec.containers[0]?.image === 'app:2' && isReady(now));
    assert.equal(pod.status?.containerStatuses?.[0]?.image, 'app:2');
    assert.equal((await node.running('web-node-1')).length, 1);
  });

  it('keep running when the agent restarts, unless their file was changed or removed in the meantime', async () => {
    await write('web.yaml', manifest());
    start();
    await mirror();
    const running = await node.running('web-node-1');
    await node.stop();
    start();
    await eventually(async () => assert.ok((await node.condition('Ready')).status === 'True'));
    await node.server.call('DELETE', `${path}?gracePeriodSeconds=0`);
    await mirror();
    assert.deepEqual(await node.running('web-node-1'), running);
    await node.stop();
    await write('web.yaml', manifest('app:2'));
    start();
    await mirror((pod) => pod.status?.containerStatuses?.[0]?.image === 'app:2' && isReady(pod));
    const [now, ...others] = await node.running('web-node-1');
    assert.ok(now !== undefined && now !== running[0] && others.length === 0);
    await node.stop();
    await rm(join(directory, 'web.yaml'));
    start();
    await isGone();
    await eventually(async () => assert.deepEqual(await node.running('web-node-1'), []));
  });

  it('run without an API server, and are shown when it is reachable', async () => {
    await node.createPod('other');
    start();
    await node.waitFor('other', isReady);
    await node.stop();
    await write('web.yaml', manifest());
    node.cutOff();
    start();
    await eventually(async () => assert.equal((await node.running('web-node-1')).length, 1));
    node.reconnect();
    await mirror();
  });

  it('whose files have errors are reported once each, and do not affect other pods', async () => {
    const bad: Readonly<Record<string, string>> = {
      'a-broken.yaml': 'kind: Pod: {',
      'b-nothing.yaml': '# nothing\n',
      'c-service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n',
      'd-nameless.yaml': 'apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: b}]}\n',
      'e-invalid.json': '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":[]}}',
      'f-two.yaml': `${manifest()}---\n${manifest()}`,
      'g-long.yaml': `# ${'x'.repeat(1024 * 1024)}\n${manifest()}`,
      'h-name.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: A_b}\nspec: {containers: [{name: a, image: b}]}\n',
      'i-label.yaml': manifest().replace('{app: web}', '{"app!": web}'),
    };
    for (const [name, text] of Object.entries(bad)) await write(name, text);
    await mkdir(join(directory, 'folder'));
    await write('web.yaml', manifest());
    await write('x-again.yaml', manifest('app:2'));
    start();
    assert.equal((await mirror()).spec.containers[0]?.image, 'app:1');
    await write('y.yaml', manifest().replace('name: web', 'name: other'));
    await node.waitFor('other-node-1', isReady);
    for (const name of [...Object.keys(bad), 'x-again.yaml']) {
      const told = said().filter((line) => line.includes(join(directory, name)));
      assert.equal(told.length, 1, `${name}: ${told.join('\n')}`);
      assert.ok(!told[0]?.includes('\n'));
    }
  });

  it('stay unchanged while their file is invalid', async () => {
    await write('web.yaml', manifest());
    start();
    await mirror();
    const running = await node.running('web-node-1');
    await write('web.yaml', manifest().slice(0, 40));
    await eventually(async () => assert.ok(said().some((line) => line.includes('web.yaml'))));
    assert.deepEqual(await node.running('web-node-1'), running);
    await write('web.yaml', manifest());
    await write('y.yaml', manifest().replace('name: web', 'name: other'));
    await node.waitFor('other-node-1', isReady);
    assert.deepEqual(await node.running('web-node-1'), running, 'the same text is the same pod');
  });

  it('are found in a directory that is created later', async () => {
    await rm(directory, { recursive: true });
    const clock = new FakeClock();
    const wanted: string[] = [];
    let reads = 0;
    const pods = new StaticPods({
      ...{ directory, nodeName, clock, log },
      workers: {} as PodWorkers,
      cache: {} as RuntimeCache,
      mirrors: { want: (all) => void wanted.push(all.map(({ metadata }) => metadata.name).join()) },
      onRead: () => void reads++,
    });
    await pods.load();
    assert.equal(reads, 1, 'a directory that does not exist counts as read');
    const stop = new AbortController();
    const running = pods.run(stop.signal);
    await mkdir(directory);
    await write('web.yaml', manifest());
    await eventually(async () => {
      await clock.advance(20_000);
      assert.equal(wanted.at(-1), 'web-node-1');
    });
    stop.abort();
    await running;
    const missing = `the directory of static pods ${directory} does not exist: create it, and put their manifests into it`;
    assert.deepEqual(said(), [missing]);
  });

  it('that no file describes have their mirror pods deleted, and pods of the API stay', async () => {
    start();
    await node.createPod('plain');
    await node.waitFor('plain', isReady);
    await node.server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web-node-1', annotations: { [mirrorKey]: 'somebody else' } },
      spec: { nodeName, containers: [{ name: 'main', image: 'app:1' }] },
    });
    await isGone();
    assert.deepEqual(await node.running('web-node-1'), []);
    assert.equal((await node.running('plain')).length, 1);
  });
});
