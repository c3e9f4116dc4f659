/**
 * Containers that the kernel kills for memory, on an engine that reports the kill late or never, as Docker
 * does now and then on a busy machine.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../src/api/core/v1/types.gen.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { labels } from '../../../src/kubelet/runtime/docker-labels.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { type ForgetfulEngine, startForgetfulEngine } from '../../fixtures/forgetful-engine.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('a container that the kernel killed for memory', () => {
  let node: NodeHarness;
  let engine: ForgetfulEngine;

  before(async () => {
    node = await startNodeHarness();
    engine = await startForgetfulEngine(join(node.dataDir, 'engine.sock'), { pastEvents: false });
  });
  after(async () => {
    await node.close();
    await engine.stop();
  });

  const runtimeOn = (socketPath: string, kernelLog?: string) =>
    new DockerRuntime({
      socketPath,
      owner: node.owner,
      pauseImage: node.images.pause,
      initPath: join(node.dataDir, 'bin', 'pause'),
      ...(kernelLog !== undefined && { kernelLog }),
      clock: systemClock,
      exec: systemExec,
    });
  afterEach(() => node.stopAgent());
  const startAgent = (kernelLog?: string) =>
    node.startAgent({ runtime: runtimeOn(engine.socketPath, kernelLog) });

  /** Uses more memory than its limit once /go exists, and exits with the status of the killed program. */
  const script =
    'until test -e /go; do sleep 0.1; done; dd if=/dev/zero of=/dev/null bs=200M count=1; exit $?';
  const create = (name: string, restartPolicy: string) =>
    node.createPod(name, {
      restartPolicy,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'greedy',
          image: node.images.busybox,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', script],
          resources: { limits: { memory: '16Mi' } },
        },
      ],
    });
  const statusOf = (pod: Pod): ContainerStatus =>
    pod.status?.containerStatuses?.[0] ?? assert.fail('the container has no status');
  const idOf = (pod: Pod) =>
    statusOf(pod).containerID?.replace('docker://', '') ?? assert.fail('no container');
  const letGo = async (id: string) => void (await systemExec('docker', ['exec', id, 'sh', '-c', ': > /go']));
  const isOver = ({ status }: Pod) => status?.phase === 'Failed';
  const endOf = (pod: Pod) => {
    const { exitCode, reason } = statusOf(pod).state?.terminated ?? assert.fail('the container runs');
    return [exitCode, reason];
  };

  it('has the reason OOMKilled, from the kernel log, if the engine never reports the kill', async () => {
    await startAgent();
    await create('never', 'Never');
    await letGo(idOf(await node.waitFor('never', isReady)));
    assert.deepEqual(endOf(await node.waitFor('never', isOver)), [137, 'OOMKilled']);
  });

  it('has the reason OOMKilled if it ended while the agent was down', async () => {
    await startAgent();
    await create('away', 'Never');
    const id = idOf(await node.waitFor('away', isReady));
    await node.stopAgent();
    await letGo(id);
    await eventually(async () => assert.equal((await node.runtime.inspect(id))?.state, 'exited'));
    await startAgent();
    assert.deepEqual(endOf(await node.waitFor('away', isOver)), [137, 'OOMKilled']);
  });

  it('has the reason Error if another process killed it', async () => {
    await startAgent();
    await create('killed', 'Never');
    await node.runtime.kill(idOf(await node.waitFor('killed', isReady)));
    assert.deepEqual(endOf(await node.waitFor('killed', isOver)), [137, 'Error']);
  });

  it('restarts at once, and gets the reason OOMKilled when the engine reports the kill after the exit', async () => {
    await startAgent('/nonexistent');
    await create('late', 'Always');
    const id = idOf(await node.waitFor('late', isReady));
    await letGo(id);
    const again = await node.waitFor('late', (pod) => statusOf(pod).restartCount === 1 && isReady(pod));
    assert.equal(statusOf(again).lastState?.terminated?.reason, 'Error');
    engine.report(id);
    const told = await node.waitFor('late', (pod) => statusOf(pod).lastState?.terminated?.reason !== 'Error');
    assert.deepEqual(
      [statusOf(told).restartCount, statusOf(told).lastState?.terminated?.reason],
      [1, 'OOMKilled'],
    );
    assert.equal(statusOf(told).containerID, statusOf(again).containerID);
  });

  it('in a failed pod gets the reason OOMKilled when the engine reports the kill', async () => {
    await startAgent('/nonexistent');
    await create('failed', 'Never');
    const id = idOf(await node.waitFor('failed', isReady));
    await letGo(id);
    assert.deepEqual(endOf(await node.waitFor('failed', isOver)), [137, 'Error']);
    engine.report(id);
    const told = await node.waitFor('failed', (pod) => statusOf(pod).state?.terminated?.reason !== 'Error');
    assert.deepEqual(endOf(told), [137, 'OOMKilled']);
  });

  it('is found in the past events of the engine if the agent starts later', async (context) => {
    const past = await startForgetfulEngine(join(node.dataDir, 'past.sock'), { pastEvents: true });
    context.after(() => past.stop());
    const own = Object.entries({ [labels.owner]: node.owner, [labels.role]: 'container' });
    // The engine itself may lose one of the kills, not all.
    const ids = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const args = ['run', '--detach', '--memory=16m', '--network=none'];
        const named = own.map(([name, value]) => `--label=${name}=${value}`);
        const { stdout } = await systemExec('docker', [
          ...[...args, ...named, node.images.busybox],
          ...['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=200M', 'count=1'],
        ]);
        return stdout.trim();
      }),
    );
    await systemExec('docker', ['wait', ...ids]);
    const runtime = runtimeOn(past.socketPath, '/nonexistent');
    const known = async () => {
      const found = await Promise.all(ids.map((id) => runtime.inspect(id)));
      return found.filter((state) => state?.kind === 'container' && state.oomKilled).length;
    };
    assert.equal(await known(), 0);
    const stop = new AbortController();
    context.after(() => stop.abort());
    const { promise: ready, resolve: onReady } = Promise.withResolvers<void>();
    const following = Array.fromAsync(runtime.events(stop.signal, onReady));
    await ready;
    assert.ok((await known()) > 0);
    stop.abort();
    await following;
    await systemExec('docker', ['rm', '--force', ...ids]);
  });
});
