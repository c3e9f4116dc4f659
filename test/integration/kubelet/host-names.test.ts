/** The host name of a container whose agent was killed between its start and its naming. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('a container that was started but not named', () => {
  let node: NodeHarness;
  before(async () => {
    node = await startNodeHarness();
  });
  after(() => node.close());

  it('is named by the next agent, and its program is run with that name', async () => {
    const ended = Promise.withResolvers<never>();
    let asked = false;
    const mortal = new DockerRuntime({
      socketPath: dockerSocket,
      owner: node.owner,
      pauseImage: node.images.pause,
      initPath: `${node.dataDir}/bin/pause`,
      clock: systemClock,
      async exec() {
        asked = true;
        return ended.promise;
      },
    });
    await node.startAgent({ runtime: mortal, sandboxPool: 2 });
    // Sandboxes are made one after the other, so the first is ready.
    await eventually(async () => assert.equal((await node.runtime.list()).length, 2));
    await node.createPod('named', {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: node.images.busybox,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', 'hostname; sleep 1000'],
        },
      ],
    });
    await eventually(async () => assert.ok(asked));
    // The result that the agent waited for never arrives.
    ended.reject(new Error('killed'));
    await node.stopAgent();
    await node.startAgent();
    const pod = await node.waitFor('named', isReady);
    const id = pod.status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '';
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
    const options = { follow: false, timestamps: false, tailLines: undefined, since: undefined };
    await eventually(async () => {
      let said = '';
      for await (const chunk of await node.runtime.logs(id, options, AbortSignal.timeout(60_000)))
        said += Buffer.from(chunk).toString();
      assert.equal(said, 'named\n');
    });
  });
});
