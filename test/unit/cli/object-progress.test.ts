/** What a person who waits is told of objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deletionText,
  podsText,
  pullsIn,
  stateText,
  waitingNodes,
} from '../../../src/cli/progress/object-progress.ts';

const pod = (name: string, reason: string, isReady = false) => ({
  metadata: { name },
  spec: { nodeName: `node-of-${name}`, containers: [{ image: 'nginx:1' }] },
  status: {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'ContainersNotReady' }],
    containerStatuses: [{ state: reason === '' ? { running: {} } : { waiting: { reason } } }],
  },
});

describe('what is told of objects that somebody waits for', () => {
  it('is what holds one that was deleted', () => {
    const metadata = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(deletionText({ metadata: { ...metadata, finalizers: ['x/y', 'z'] } }), 'waits for x/y, z');
    assert.equal(deletionText({ metadata }), 'stopping');
    assert.equal(deletionText({ metadata: { name: 'a' } }), '');
  });

  it('is why a container waits, else the condition that is not met, else the phase', () => {
    assert.equal(stateText(pod('a', 'ImagePullBackOff')), 'ImagePullBackOff');
    assert.equal(stateText(pod('a', '')), 'ContainersNotReady');
    assert.equal(stateText({ status: { phase: 'Bound' } }), 'Bound');
    assert.equal(stateText({ status: { conditions: 'nonsense' } }), '');
  });

  it('is how many pods are ready, why the others wait, and what is pulled for them', () => {
    const pods = [pod('a', '', true), pod('b', 'ContainerCreating'), pod('c', 'ContainerCreating')];
    const pull = { totalBytes: 30e6, doneBytes: 12.34e6, layers: 5, doneLayers: 2 };
    const pulls = pullsIn({ pulls: [{ image: 'nginx:1', ...pull }, { image: 'other:1' }, 7] });
    assert.equal(
      podsText(pods, pulls),
      '1 of 3 pods ready, ContainerCreating, pulling nginx:1: 2 of 5 layers, 12.3 of 30.0 MB of those begun',
    );
    assert.equal(podsText([], pulls), '');
    assert.deepEqual(waitingNodes(pods), ['node-of-b', 'node-of-c']);
  });
});
