import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deletionConditions } from '../../../../src/controllers/namespaces/namespace.ts';
import { at } from '../objects.ts';

const short = (conditions: ReturnType<typeof deletionConditions>) =>
  conditions.map(({ type, status, message }) => [type, status, message]);

it('the conditions report the remaining objects and finalizers, and finally that the namespace is empty', () => {
  const pods = { resource: 'pods.', count: 2, finalizers: { 'example.com/a': 1 } };
  const sets = { resource: 'replicasets.apps', count: 1, finalizers: { 'example.com/a': 1 } };
  const busy = deletionConditions(
    [],
    [pods, sets, { resource: 'secrets.', count: 0, finalizers: {} }],
    {},
    at(1),
  );
  assert.deepEqual(short(busy), [
    ['NamespaceDeletionDiscoveryFailure', 'False', 'All resources successfully discovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'All legacy kube types successfully parsed'],
    [
      'NamespaceDeletionContentFailure',
      'False',
      'All content successfully deleted, may be waiting on finalization',
    ],
    [
      'NamespaceContentRemaining',
      'True',
      'Some resources are remaining: pods. has 2 resource instances, replicasets.apps has 1 resource instances',
    ],
    [
      'NamespaceFinalizersRemaining',
      'True',
      'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances',
    ],
  ]);
  assert.deepEqual(deletionConditions(busy, [sets, pods].reverse(), {}, at(5)), busy);
  const fewer = deletionConditions(busy, [{ ...pods, count: 1, finalizers: {} }], {}, at(5));
  assert.match(fewer[3]?.message ?? '', /pods. has 1 resource/);
  assert.equal(fewer[3]?.lastTransitionTime, at(1));
  const done = deletionConditions(fewer, [], { failure: 'cannot list pods' }, at(9));
  assert.deepEqual(
    done.map(({ status, lastTransitionTime }) => [status, lastTransitionTime]),
    [
      ['False', at(1)],
      ['False', at(1)],
      ['True', at(9)],
      ['False', at(9)],
      ['False', at(5)],
    ],
  );
});
