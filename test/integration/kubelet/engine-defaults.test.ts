/**
 * Defaults that a Docker engine applies to containers and Kubernetes does not; newer engines have more of
 * them.
 */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { importImage, loadImage } from '../../fixtures/image-root.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('defaults of Docker', () => {
  let node: NodeHarness;

  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
  });
  after(() => node.close());

  const sleeper = (more: object = {}) => ({
    name: 'main',
    image: node.images.busybox,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', 'exec sleep 1000'],
    ...more,
  });
  async function docker(...args: string[]): Promise<string> {
    return (await systemExec('docker', args, { timeoutMs: 60_000 })).stdout.trim();
  }
  const idOf = (pod: Pod) =>
    pod.status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? assert.fail('no container');
  /** Returns a directory for a test with one pod; both are removed after the test, after `last`. */
  async function directoryFor(
    pod: string,
    context: TestContext,
    last: () => Promise<unknown>,
  ): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'minik8s-defaults-'));
    context.after(async () => {
      await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${pod}`);
      await node.waitForGone(pod);
      await last();
      await rm(path, { recursive: true });
    });
    return path;
  }

  /** Returns the root file system of an image for a test with one pod; it is removed after the test. */
  async function rootFor(pod: string, image: string, context: TestContext): Promise<string> {
    const root = join(await directoryFor(pod, context, () => docker('image', 'rm', '-f', image)), 'root');
    await mkdir(join(root, 'bin'), { recursive: true });
    await cp('/bin/busybox', join(root, 'bin/busybox'), { dereference: true });
    for (const applet of ['sh', 'sleep']) await symlink('busybox', join(root, 'bin', applet));
    return root;
  }

  it('a read-only mount with recursiveReadOnly: Disabled leaves mounts below it writable', async (context) => {
    const host = await directoryFor('mounts', context, () => systemExec('umount', ['--lazy', inner]));
    const inner = join(host, 'inner');
    await mkdir(inner);
    await systemExec('mount', ['-t', 'tmpfs', 'tmpfs', inner]);
    await node.createPod('mounts', {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'v', hostPath: { path: host } }],
      containers: [sleeper({ volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }] })],
    });
    const id = idOf(await node.waitFor('mounts', isReady));
    await assert.rejects(docker('exec', id, 'sh', '-c', 'echo x >/v/file'), /Read-only file system/);
    assert.equal(await docker('exec', id, 'sh', '-c', 'echo x >/v/inner/file && cat /v/inner/file'), 'x');
  });

  it('the root directory of the machine can be mounted read-only, including Docker’s own directory', async (context) => {
    const path = await directoryFor('machine', context, async () => undefined);
    await node.createPod('machine', {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
      containers: [sleeper({ volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }] })],
    });
    const id = idOf(await node.waitFor('machine', isReady));
    assert.equal(await docker('exec', id, 'ls', '-d', `/v${path}`), `/v${path}`);
  });

  it('the health check of an image is not run', async (context) => {
    const image = `minik8s-test/checked:${node.owner}`;
    const root = await rootFor('checked', image, context);
    await importImage(root, image, ['CMD ["sleep", "1000"]', 'HEALTHCHECK CMD sh -c "exit 1"']);
    assert.match(await docker('image', 'inspect', '-f', '{{json .Config.Healthcheck}}', image), /exit 1/);
    await node.createPod('checked', { terminationGracePeriodSeconds: 0, containers: [sleeper({ image })] });
    const id = idOf(await node.waitFor('checked', isReady));
    assert.equal(await docker('inspect', '-f', '{{json .State.Health}}', id), 'null');
  });

  it('an image with an invalid stop signal is stopped with the default signal', async (context) => {
    const image = `minik8s-test/unstoppable:${node.owner}`;
    const root = await rootFor('unstoppable', image, context);
    await loadImage(root, image, { Env: ['PATH=/bin'], StopSignal: 'FOO' });
    const command = ['sh', '-c', 'trap "exit 3" TERM; while :; do sleep 0.1; done'];
    await node.createPod('unstoppable', {
      terminationGracePeriodSeconds: 20,
      containers: [sleeper({ image, command })],
    });
    const id = idOf(await node.waitFor('unstoppable', isReady));
    const end = docker('wait', id);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/unstoppable');
    assert.equal(await end, '3', 'it was asked, not killed');
  });

  it('labels of an image are not taken for labels of the agent, and the node continues', async (context) => {
    const image = `minik8s-test/talker:${node.owner}`;
    const root = await rootFor('talker', image, context);
    await importImage(root, image, ['LABEL minik8s.io/pre-stop="{" minik8s.io/stop-turn=7', 'ENV PATH=/bin']);
    await node.createPod('talker', { terminationGracePeriodSeconds: 0, containers: [sleeper({ image })] });
    await node.waitFor('talker', isReady);
    await node.stopAgent();
    await node.startAgent();
    await node.waitFor('talker', isReady);
  });
});
