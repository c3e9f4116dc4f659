/** The containerd shims between the engine and a pod's containers: their number and their end. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { ContainerState, SandboxState } from '../../../src/kubelet/runtime/runtime.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('the shims of pods', () => {
  let node: NodeHarness;
  /** True if the engine passes annotations on to containerd. */
  let shared: boolean;

  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
    const [, minor] = (await node.runtime.version()).apiVersion.split('.');
    shared = Number(minor) >= 43;
  });
  after(() => node.close());

  const container = (name: string, script = 'exec sleep 1000', more: object = {}) => ({
    name,
    image: node.images.busybox,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', script],
    ...more,
  });
  const create = (name: string, ...containers: readonly object[]) =>
    node.createPod(name, { terminationGracePeriodSeconds: 0, containers });

  const statusOf = (pod: Pod, name: string) =>
    pod.status?.containerStatuses?.find((status) => status.name === name);

  /** Returns the sandbox and the containers of a pod that run. */
  async function runningOf({ metadata }: Pod): Promise<readonly (SandboxState | ContainerState)[]> {
    const found = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    return found.filter((object) => object?.pod?.uid === metadata.uid && object.state === 'running') as (
      | SandboxState
      | ContainerState
    )[];
  }
  const parentOf = async (pid: number) =>
    Number(/^PPid:\t(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const nameOf = (pid: number) =>
    readFile(`/proc/${pid}/comm`, 'utf8').catch((error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'ENOENT');
      return '';
    });
  /** Returns the process IDs of a pod's shims. */
  async function shimsOf(pod: Pod): Promise<readonly number[]> {
    const parents = await Promise.all((await runningOf(pod)).map(({ pid }) => parentOf(pid)));
    const shims = [...new Set(parents)];
    for (const shim of shims) assert.match(await nameOf(shim), /^containerd-shim/);
    return shims.toSorted((a, b) => a - b);
  }
  const gone = (pids: readonly number[]) =>
    eventually(async () => {
      for (const pid of pids) assert.equal(await nameOf(pid), '', `process ${pid} exists`);
    });
  /** Waits until the pod is Ready in another sandbox than before, with each container restarted once. */
  const inAnotherSandbox = (name: string, { id }: { readonly id: string }) =>
    eventually(async () => {
      const pod = await node.waitFor(name, isReady);
      const running = await runningOf(pod);
      assert.equal(running.length, 3);
      assert.ok(running.every((object) => object.id !== id));
      assert.ok(pod.status?.containerStatuses?.every(({ restartCount }) => restartCount === 1));
      return pod;
    });
  const sandboxOf = async (pod: Pod) =>
    (await runningOf(pod)).find(({ kind }) => kind === 'sandbox') ?? assert.fail('no sandbox');

  it('are one for each pod, the shim of its sandbox, if the engine supports that', async () => {
    const waiting = await eventually(async () => {
      const found = (await node.runtime.list()).filter(({ state }) => state === 'running');
      // Sandboxes are made one after the other.
      assert.ok(found.length > 1, 'no sandbox is ready');
      return found;
    });
    await create('pair', container('one'), container('two'));
    const pod = await node.waitFor('pair', isReady);
    const sandbox = await sandboxOf(pod);
    assert.ok(waiting.some(({ id }) => id === sandbox.id));
    const shims = await shimsOf(pod);
    assert.equal(shims.length, shared ? 1 : 3);
    assert.ok(shims.includes(await parentOf(sandbox.pid)));

    const one = statusOf(pod, 'one')?.containerID?.replace('docker://', '') ?? assert.fail('no container');
    await node.runtime.kill(one);
    const again = await node.waitFor(
      'pair',
      (seen) => isReady(seen) && statusOf(seen, 'one')?.restartCount === 1,
    );
    assert.equal(statusOf(again, 'two')?.restartCount, 0);
    const later = await shimsOf(again);
    assert.equal(later.length, shared ? 1 : 3);
    if (shared) assert.deepEqual(later, shims);

    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/pair');
    await node.waitForGone('pair');
    await gone([...shims, ...later]);
  });

  it('report how each container ended', async () => {
    await node.createPod('ends', {
      restartPolicy: 'Never',
      containers: [
        container('greedy', 'dd if=/dev/zero of=/dev/null bs=200M count=1', {
          resources: { limits: { memory: '16Mi' } },
        }),
        container('three', 'echo third; exit 3'),
        container('zero', 'exit 0'),
      ],
    });
    const pod = await node.waitFor('ends', ({ status }) => status?.phase === 'Failed');
    const ended = ['greedy', 'three', 'zero'].map((name) => {
      const { exitCode, reason } = statusOf(pod, name)?.state?.terminated ?? assert.fail(`${name} runs`);
      return [exitCode, reason];
    });
    assert.deepEqual(ended, [
      [137, 'OOMKilled'],
      [3, 'Error'],
      [0, 'Completed'],
    ]);
  });

  it('that are killed leave no process of the pod behind, and the pod starts again', async () => {
    await create('killed', container('one'), container('two'));
    const pod = await node.waitFor('killed', isReady);
    const sandbox = await sandboxOf(pod);
    const processes = (await runningOf(pod)).map(({ pid }) => pid);
    for (const shim of await shimsOf(pod)) process.kill(shim, 'SIGKILL');
    const again = await inAnotherSandbox('killed', sandbox);
    await gone(processes);
    for (const { lastState } of again.status?.containerStatuses ?? []) {
      assert.deepEqual([lastState?.terminated?.exitCode, lastState?.terminated?.reason], [137, 'Error']);
    }
    assert.equal((await shimsOf(again)).length, shared ? 1 : 3);
  });

  it('end when the sandbox of their pod is removed, and the pod starts again', async () => {
    await create('orphaned', container('one'), container('two'));
    const pod = await node.waitFor('orphaned', isReady);
    const sandbox = await sandboxOf(pod);
    const shims = await shimsOf(pod);
    await systemExec('docker', ['rm', '--force', sandbox.id]);
    const again = await inAnotherSandbox('orphaned', sandbox);
    await gone(shims);
    assert.equal((await shimsOf(again)).length, shared ? 1 : 3);
  });
});
