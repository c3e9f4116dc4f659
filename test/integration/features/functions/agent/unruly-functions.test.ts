/**
 * Functions on a node where each request in turn is rejected, loses its answer, or is the last of its
 * process.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { findCondition } from '../../../../../src/apimachinery/conditions.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import { archiveOf } from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import type { ObservedPod } from '../../../../../src/kubelet/runtime/observed-pod.ts';
import { atEachRequestOfNode, type UnrulyNode } from './unruly-node.ts';

const image = 'minik8s.function/default/f:h';
const version = {
  metadata: { name: 'f-1', namespace: 'default', uid: 'u', resourceVersion: '1' },
  spec: {
    ...{ function: 'f', runtime: 'python', handler: 'main.handler', baseImage: 'python:3', image },
    ...{ files: { 'main.py': 'code', 'requirements.txt': 'a\n' }, timeoutSeconds: 30, concurrency: 1 },
  },
} as unknown as FunctionVersion;
const podOf = (labels: object) =>
  ({
    metadata: { name: 'p', namespace: 'default', uid: 'p', labels },
    spec: { containers: [{ name: 'function', image }] },
  }) as unknown as Pod;
const pod = podOf({ 'minik8s.io/function-version': 'f-1' });

const hash = 'a'.repeat(64);
const lockOf = (number: string) => `a==${number} --hash=sha256:${hash}\n`;
const reportOf = (number: string) => {
  const download_info = { archive_info: { hashes: { sha256: hash } } };
  return JSON.stringify({ install: [{ metadata: { name: 'a', version: number }, download_info }] });
};

/** The index has version 1 of the library; another node has written a lock with version 2. */
function begin(node: UnrulyNode): void {
  node.stored = version;
  node.others = (stored) => {
    const lock = stored.status?.lock ?? lockOf('2');
    return { ...stored, status: { ...stored.status, lock } } as FunctionVersion;
  };
  node.engine.onStart = ({ files }) => {
    const number = files.some((one) => one.includes('a==2')) ? '2' : '1';
    const report = archiveOf([{ path: 'report.json', content: Buffer.from(reportOf(number)) }]);
    node.engine.installed.set('/minik8s/build/report.json', Buffer.from(report));
    node.engine.installed.set('/minik8s/build/libraries', Buffer.from(`library ${number}`));
  };
}

const builds = (node: UnrulyNode) =>
  node.succeeds(({ imageProviders }) => {
    const provider = imageProviders.find((one) => one.takes(image)) ?? assert.fail('no provider takes it');
    return provider.ensure(pod, image, new AbortController().signal);
  });
const looks = (node: UnrulyNode) => node.succeeds(async ({ chores }) => chores?.look());

it('if any request fails, an image has the libraries of the lock, is reported as built and leaves nothing behind', async () => {
  await atEachRequestOfNode(async (node) => {
    begin(node);
    await builds(node);
    await looks(node);
    const { lock, nodeName, conditions } = node.stored?.status ?? {};
    const { engine } = node;
    assert.ok(lock === lockOf('1') || lock === lockOf('2'), `the lock is ${lock}`);
    const files = engine.images.get(image)?.files ?? [];
    assert.deepEqual(files.slice(1), [`/minik8s library ${lock === lockOf('1') ? '1' : '2'}`]);
    assert.ok(files[0]?.includes('code'));
    assert.deepEqual([findCondition(conditions, 'Built')?.status, nodeName], ['True', 'n1']);
    assert.deepEqual([engine.containers.size, node.recorded.size], [0, 0]);
    // The image stays as long as its version exists, and is then removed.
    await looks(node);
    assert.deepEqual([...engine.images.keys()], [image]);
    node.stored = undefined;
    await looks(node);
    if (engine.images.size > 0) await looks(node);
    assert.equal(engine.images.size, 0);
  });
});

it('a waiting instance has its files before its signal if any request fails', async () => {
  const { spec, metadata } = warmVersion('default', 'python', 'python:3', sha256);
  const labels = { 'minik8s.io/warm': 'python' };
  const waiting = podOf({ ...labels, 'minik8s.io/function-version': metadata.name });
  const given = podOf({ ...labels, 'minik8s.io/function': 'f', 'minik8s.io/function-version': 'f-1' });
  for (const one of [waiting, given])
    (one.spec.containers as { image: string }[])[0] = { ...one.spec.containers[0], image: spec.image };
  const seen = { containers: [{ id: 'c', state: 'running' }] } as unknown as ObservedPod;
  await atEachRequestOfNode(async (node) => {
    const { 'requirements.txt': _, ...files } = version.spec.files ?? {};
    node.stored = { ...version, spec: { ...version.spec, files } };
    const container = node.engine.hasContainer('c', 'instance');
    node.onRequest = (request) => {
      if (request === 'POST /kill') assert.equal(container.files.length > 0, true, 'it is told too early');
    };
    for (const one of [waiting, given, given])
      assert.equal(await node.succeeds(async ({ podObserver }) => podObserver?.see(one, seen)), undefined);
    assert.ok(container.signals.length > 0);
    await node.restart();
    // After a restart, the instance still has the function, even if the version was changed or deleted.
    node.stored = undefined;
    assert.equal(await node.succeeds(async ({ podObserver }) => podObserver?.see(given, seen)), undefined);
    assert.ok(container.files.every((one) => one.includes('code')));
  });
});
