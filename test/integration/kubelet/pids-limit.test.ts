/** Limit of the processes of a container, in a real engine. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { type NodeHarness, startNodeHarness } from './node-harness.ts';

describe('a container on a node with a limit of processes', () => {
  let node: NodeHarness;
  before(async () => {
    node = await startNodeHarness();
    const runtime = new DockerRuntime({
      socketPath: dockerSocket,
      owner: node.owner,
      pauseImage: node.images.pause,
      initPath: join(node.dataDir, 'bin', 'pause'),
      maxPids: 70,
      clock: systemClock,
      exec: systemExec,
    });
    await node.startAgent({ runtime });
  });
  after(() => node.close());

  it('cannot start more processes, while another container of its pod can', async () => {
    const command = (script: string) => ({
      ...{ image: node.images.busybox, imagePullPolicy: 'Never', command: ['sh', '-c', script] },
    });
    await node.createPod('many', {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: 'many', ...command('for i in $(seq 100); do sleep 600 & done; exit 7') },
        { name: 'few', ...command('for i in $(seq 50); do sleep 600 & done; exit 3') },
      ],
    });
    const { status } = await node.waitFor('many', (pod) => pod.status?.phase === 'Failed');
    const exits = status?.containerStatuses?.map(({ name, state }) => [name, state?.terminated?.exitCode]);
    // The shell ends with 2 when it cannot start a process.
    assert.deepEqual(exits?.toSorted(), [
      ['few', 3],
      ['many', 2],
    ]);
  });
});
