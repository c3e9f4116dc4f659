/** An ephemeral container that is added to a running pod, on the real engine. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('a container to look into a pod', () => {
  let node: NodeHarness;
  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
  });
  after(() => node.close());

  const stateOf = ({ status }: Pod, name: string) =>
    status?.ephemeralContainerStatuses?.find((container) => container.name === name)?.state;
  const add = async (name: string, container: object) => {
    const answer = await node.server.call(
      'PATCH',
      `/api/v1/namespaces/default/pods/${name}/ephemeralcontainers`,
      {
        spec: {
          ephemeralContainers: [{ image: node.images.busybox, imagePullPolicy: 'Never', ...container }],
        },
      },
      { headers: { 'content-type': 'application/strategic-merge-patch+json' } },
    );
    assert.equal(answer.status, 200, answer.text);
  };
  const script = (text: string) => ({ command: ['sh', '-c', text], terminationMessagePolicy: 'File' });

  it('joins its network, sees the processes of the target container, runs once and is removed with the pod', async () => {
    const { busybox: image } = node.images;
    const main = { name: 'main', image, imagePullPolicy: 'Never', command: ['sleep', '1234'] };
    await node.createPod('web', { containers: [main] });
    const { status } = await node.waitFor('web', isReady);
    const tell = 'tr "\\0" " " < /proc/1/cmdline > /dev/termination-log; hostname -i >> /dev/termination-log';
    await add('web', { name: 'look', targetContainerName: 'main', ...script(tell) });
    await add('web', {
      name: 'apart',
      ...script('tr "\\0" " " < /proc/1/cmdline > /dev/termination-log; exit 3'),
    });
    await add('web', { name: 'stays', ...script('sleep 4321') });
    const pod = await node.waitFor(
      'web',
      (one) =>
        stateOf(one, 'look')?.terminated !== undefined &&
        stateOf(one, 'apart')?.terminated !== undefined &&
        stateOf(one, 'stays')?.running !== undefined,
    );
    assert.equal(stateOf(pod, 'look')?.terminated?.message, `sleep 1234 ${status?.podIP}\n`);
    assert.match(stateOf(pod, 'apart')?.terminated?.message ?? '', /^sh -c/);
    assert.equal(stateOf(pod, 'apart')?.terminated?.exitCode, 3);
    assert.ok(isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 0);
    await node.stopAgent();
    await node.startAgent();
    await add('web', { name: 'after', ...script('true') });
    const later = await node.waitFor('web', (one) => stateOf(one, 'after')?.terminated !== undefined);
    assert.equal(
      stateOf(later, 'apart')?.terminated?.containerID,
      stateOf(pod, 'apart')?.terminated?.containerID,
    );
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/web', { gracePeriodSeconds: 1 });
    await node.waitForGone('web');
  });
});
