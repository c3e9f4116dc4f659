/** Pods that get the failure of an equal pod without a try, until the cluster changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Remedy } from '../../../src/scheduler/framework.ts';
import { KnownFailures } from '../../../src/scheduler/known-failures.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { refusedBy } from '../../../src/scheduler/schedule-one.ts';
import { ownedBy } from '../controllers/objects.ts';
import { wanting } from './pods.ts';

const decision = (remedy?: Remedy) => ({
  ...refusedBy({ plugin: 'P', text: 'no' }),
  ...(remedy && { remedy }),
});
const [first, second] = [wanting('first', { cpu: '1' }), wanting('second', { cpu: '1' })];
const over = (metadata: Partial<Pod['metadata']>, spec: Partial<Pod['spec']> = {}): Pod => ({
  ...second,
  metadata: { ...second.metadata, ...metadata },
  spec: { ...second.spec, ...spec },
});

describe('the failure of a pod', () => {
  it('is used for another pod with the same requirements until something changes', () => {
    const known = new KnownFailures();
    assert.equal(known.get(second, 0), undefined);
    const failure = known.add(first, decision(), 1, 3);
    assert.equal(failure.explanation.message, '0/3 nodes are available: no.');
    assert.equal(known.get(second, 1), failure);
    assert.equal(known.get(second, 2), undefined);
    known.add(over({ labels: { app: 'other' } }), decision(), 2, 3);
    assert.equal(known.get(second, 2), undefined, 'what was known before a change is forgotten');
    const again = known.add(first, decision(), 2, 3);
    known.add(over({ labels: { app: 'third' } }), decision(), 2, 3);
    assert.equal(known.get(second, 2), again);
  });

  const volume = [{ name: 'v', ephemeral: {} }];
  const others: [string, Pod, Pod][] = [
    ['of another namespace', first, over({ namespace: 'other' })],
    ['with other labels', first, over({ labels: { app: 'other' } })],
    [
      'with another scheduling policy',
      first,
      over({ annotations: { 'minik8s.io/scheduling-policy': 'Random' } }),
    ],
    ['of another owner', first, over({ ownerReferences: [ownedBy('ReplicaSet', 'r')] })],
    ['with another specification', first, over({}, { priority: 1 })],
    ['with a generated claim', over({ name: 'first' }, { volumes: volume }), over({}, { volumes: volume })],
  ];
  for (const [what, one, other] of others)
    it(`is not used for a pod ${what}`, () => {
      const known = new KnownFailures();
      known.add(one, decision(), 1, 3);
      assert.equal(known.get(other, 1), undefined);
    });

  it('is used for other pods only if no pods are preempted because of it', () => {
    const remedies: [Remedy, boolean][] = [
      [{ kind: 'none', why: 'nobody' }, true],
      [{ kind: 'wait', why: 'soon' }, false],
      [{ kind: 'preempt', node: 'n', victims: [podInfo(first)] }, false],
    ];
    for (const [remedy, told] of remedies) {
      const known = new KnownFailures();
      known.add(first, decision(remedy), 1, 3);
      assert.equal(known.get(second, 1) !== undefined, told, remedy.kind);
    }
  });
});
