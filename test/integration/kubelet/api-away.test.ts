/**
 * A node continues to work while no API server answers, and nothing runs twice or too long once one answers
 * again.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

describe('while no API server answers', () => {
  let node: SimulatedNode;

  beforeEach(async () => {
    node = await startSimulatedNode();
    node.start();
    await eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  });
  afterEach(() => node.close());

  const run = async (name: string, spec: object = {}) => {
    await node.createPod(name, spec);
    await node.waitFor(name, isReady);
    const [container] = await node.running(name);
    return container ?? assert.fail('it does not run');
  };
  const runsAnew = (name: string, before: string) =>
    eventually(async () => {
      const now = await node.running(name);
      assert.equal(now.length, 1);
      assert.notEqual(now[0], before);
    });

  it('a container that crashes is restarted by its policy, and the server is notified later', async () => {
    const [always, never] = [await run('always'), await run('never', { restartPolicy: 'Never' })];
    node.cutOff();
    node.runtime.exit(always, 1);
    node.runtime.exit(never, 3);
    await runsAnew('always', always);
    assert.equal(
      (await node.pod('always')).status?.containerStatuses?.[0]?.restartCount,
      0,
      'no status was written',
    );
    node.reconnect();
    const pod = await node.waitFor(
      'always',
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1,
    );
    assert.ok(pod.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode === 1);
    const ended = await node.waitFor('never', ({ status }) => status?.phase === 'Failed');
    assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
    assert.deepEqual(await node.running('never'), []);
  });

  it('an agent that starts with its checkpoint adopts running containers and starts the others', async () => {
    const [stays, ends] = [await run('stays'), await run('ends')];
    node.cutOff();
    await node.stop();
    node.runtime.exit(ends, 1);
    node.start({ podCIDR: undefined });
    await runsAnew('ends', ends);
    assert.deepEqual(await node.running('stays'), [stays]);
    node.reconnect();
    await node.waitFor('ends', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
    assert.deepEqual(await node.running('stays'), [stays]);
  });

  it('pods that were deleted and replaced in the meantime end as soon as a server answers', async () => {
    await run('moved');
    const kept = await run('kept');
    const old = await node.pod('moved');
    node.cutOff();
    // Deletes the pod as the control plane does for a node that it considers dead.
    const gone = await node.server.call(
      'DELETE',
      '/api/v1/namespaces/default/pods/moved?gracePeriodSeconds=0',
    );
    assert.equal(gone.status, 200, gone.text);
    assert.equal((await node.running('moved')).length, 1, 'it cannot know');
    // The replacement has the same name and runs on another node, so this node ignores it.
    await node.createPod('moved', { nodeName: 'node-2' });
    node.reconnect();
    await eventually(async () => assert.deepEqual(await node.running('moved'), []));
    assert.deepEqual(await node.running('kept'), [kept]);
    const replacement = await node.pod('moved');
    assert.notEqual(replacement.metadata.uid, old.metadata.uid);
    assert.equal(
      replacement.status?.containerStatuses,
      undefined,
      'the old pod’s status is not written to the new one',
    );
  });

  it('pods that were deleted and replaced end as well when the agent was restarted in between', async () => {
    await run('moved');
    node.cutOff();
    await node.stop();
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/moved?gracePeriodSeconds=0');
    await node.createPod('moved');
    node.start();
    assert.equal((await node.running('moved')).length, 1);
    node.reconnect();
    const fresh = await node.waitFor('moved', isReady);
    await eventually(async () => {
      const running = await node.running('moved');
      assert.equal(running.length, 1, 'the old one is gone, the new one runs');
      assert.equal(fresh.status?.containerStatuses?.[0]?.containerID, `docker://${running[0]}`);
    });
  });

  it('a pod that is being deleted when the server returns is ended and confirmed', async () => {
    await run('leaving');
    node.cutOff();
    const answer = await node.server.call('DELETE', '/api/v1/namespaces/default/pods/leaving');
    assert.equal(answer.status, 200);
    node.reconnect();
    await eventually(async () => {
      const { status } = await node.server.call('GET', '/api/v1/namespaces/default/pods/leaving');
      assert.equal(status, 404);
      assert.deepEqual(await node.running('leaving'), []);
    });
  });
});
