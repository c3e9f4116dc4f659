/** Progress of objects as `ctl` shows it to a waiting user. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deletionText,
  podsText,
  podText,
  pullsIn,
  stateText,
  waitingNodes,
} from '../../../../src/cli/progress/object-progress.ts';

const pod = (name: string, reason: string, isReady = false) => ({
  metadata: { name },
  spec: { nodeName: `node-of-${name}`, containers: [{ image: 'nginx:1' }] },
  status: {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'ContainersNotReady' }],
    containerStatuses: [{ state: reason === '' ? { running: {} } : { waiting: { reason } } }],
  },
});

describe('the progress text of an object', () => {
  it('names the finalizers of an object that is being deleted', () => {
    const metadata = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(deletionText({ metadata: { ...metadata, finalizers: ['x/y', 'z'] } }), 'waits for x/y, z');
    assert.equal(deletionText({ metadata }), 'stopping');
    assert.equal(deletionText({ metadata: { name: 'a' } }), '');
  });

  it('names the remaining objects of a namespace, and the finalizers that keep it', () => {
    const condition = (type: string, message: string, status = 'True') => ({ type, status, message });
    const conditions = [
      condition('NamespaceDeletionContentFailure', 'none', 'False'),
      condition('NamespaceContentRemaining', 'Some resources are remaining: pods. has 2 resource instances'),
      condition(
        'NamespaceFinalizersRemaining',
        'Some content in the namespace has finalizers remaining: x.io/y in 1 resource instances',
      ),
    ];
    assert.equal(
      deletionText({ metadata: { name: 'a' }, status: { conditions } }),
      'left: 2 pods; waits for x.io/y (1)',
    );
  });

  it('is the reason of a waiting container, otherwise the unmet condition, otherwise the phase', () => {
    assert.equal(stateText(pod('a', 'ImagePullBackOff')), 'ImagePullBackOff');
    assert.equal(stateText(pod('a', '')), 'ContainersNotReady');
    assert.equal(stateText({ status: { phase: 'Bound' } }), 'Bound');
    assert.equal(stateText({ status: { conditions: 'nonsense' } }), '');
  });

  it('contains the number of ready pods, the reason of the other pods, and the images that are being pulled', () => {
    const pods = [pod('a', '', true), pod('b', 'ContainerCreating'), pod('c', 'ContainerCreating')];
    const pull = { totalBytes: 30e6, doneBytes: 12.34e6, layers: 5, doneLayers: 2 };
    const pulls = pullsIn({ pulls: [{ image: 'nginx:1', ...pull }, { image: 'other:1' }, 7] });
    assert.equal(podsText(pods, pulls), 'pulling 2/5 layers, 12.3/30.0 MB: nginx:1, 1 of 3 pods ready');
    assert.equal(
      podsText([...pods, pod('d', 'CreateContainerConfigError')], pulls),
      'pulling 2/5 layers, 12.3/30.0 MB: nginx:1, 1 of 4 pods ready, CreateContainerConfigError',
    );
    assert.equal(podsText(pods, [...pulls, ...pulls]), podsText(pods, pulls));
    assert.equal(podsText(pods, []), '1 of 3 pods ready, ContainerCreating');
    assert.equal(podsText([], pulls), '');
    assert.equal(podText(pod('b', 'ContainerCreating'), pulls), 'pulling 2/5 layers, 12.3/30.0 MB: nginx:1');
    assert.equal(podText(pod('b', 'ContainerCreating'), []), 'ContainerCreating');
    assert.deepEqual(waitingNodes(pods), ['node-of-b', 'node-of-c']);
  });

  it('contains the number of pods of the newest version and of remaining old pods', () => {
    const of = (name: string, version: string, second: number, isReady: boolean) => {
      const one = pod(name, isReady ? '' : 'CrashLoopBackOff', isReady);
      const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
      return { ...one, metadata: { name, labels: { 'pod-template-hash': version }, creationTimestamp } };
    };
    const pods = [of('a', 'v1', 1, true), of('b', 'v1', 1, true), of('c', 'v2', 5, false)];
    assert.equal(podsText(pods, []), '0 of 1 pods ready, 2 of the old version left, CrashLoopBackOff');
    assert.equal(podsText(pods.slice(2), []), '0 of 1 pods ready, CrashLoopBackOff');
  });
});
