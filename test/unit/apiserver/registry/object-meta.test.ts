/**
 * Rules for the metadata of every kind: owners, fields that only the server sets, and preconditions of a
 * write.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject, ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import {
  carryMeta,
  checkPreconditions,
  conditionsOf,
  initializeMeta,
  matchTarget,
  validateFinalizersOfDeleted,
} from '../../../../src/apiserver/registry/object-meta.ts';

const pods = podResource as unknown as ResourceDefinition;
const namespaces = namespaceResource as unknown as ResourceDefinition;
const withMeta = (metadata: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata as ObjectMeta,
});

describe('the type in a body', () => {
  for (const [definition, said, target, expected] of [
    [pods, {}, { namespace: 'a', name: 'x' }, { namespace: 'a', name: 'x' }],
    [pods, { namespace: '', name: '' }, { namespace: 'a', name: 'x' }, { namespace: 'a', name: 'x' }],
    [pods, { namespace: 'a', name: 'x' }, { namespace: 'a', name: 'x' }, { namespace: 'a', name: 'x' }],
    [pods, { name: 'x' }, { namespace: 'a', name: '' }, { namespace: 'a', name: 'x' }],
    [pods, {}, { namespace: 'a', name: '' }, { namespace: 'a' }],
    [namespaces, { namespace: '', name: 'x' }, { namespace: '', name: 'x' }, { name: 'x' }],
    [namespaces, { namespace: 'a' }, { namespace: '', name: 'x' }, { name: 'x' }],
  ] as const)
    test(`${JSON.stringify(said)} at ${JSON.stringify(target)} is ${JSON.stringify(expected)}`, () => {
      const object = withMeta({ ...said });
      matchTarget(object, definition, target);
      assert.deepEqual(object.metadata, expected);
    });

  for (const [definition, said, target, message] of [
    [pods, { namespace: 'b' }, { namespace: 'a', name: '' }, /does not match the namespace/],
    [pods, { name: 'y' }, { namespace: 'a', name: 'x' }, /does not match the name on the URL/],
  ] as const)
    test(`${JSON.stringify(said)} at ${JSON.stringify(target)} is rejected`, () =>
      assert.throws(() => matchTarget(withMeta({ ...said }), definition, target), message));
});

test('a creation sets no metadata of the server', () => {
  const forged = {
    ...{ name: 'x', uid: 'mine', creationTimestamp: 'then', resourceVersion: '7', selfLink: '/x' },
    ...{ generation: 9, deletionTimestamp: 'soon', deletionGracePeriodSeconds: 3, labels: { a: 'b' } },
  } as unknown as ObjectMeta;
  const values = { uid: 'u', now: 'now' };
  const set = { name: 'x', uid: 'u', creationTimestamp: 'now', resourceVersion: '', labels: { a: 'b' } };
  const counted = structuredClone(forged);
  initializeMeta(counted, { ...values, generation: true });
  assert.deepEqual(counted, { ...set, generation: 1 });
  initializeMeta(forged, { ...values, generation: false });
  assert.deepEqual(forged, set);
});

test('an update changes no metadata of the server', () => {
  const old = {
    ...{ name: 'x', uid: 'u', creationTimestamp: 'then', resourceVersion: '7', generateName: 'x-' },
    ...{ generation: 2, deletionTimestamp: 'soon', deletionGracePeriodSeconds: 3 },
  };
  for (const said of [
    { name: 'x' },
    {
      ...{ name: 'x', uid: 'v', creationTimestamp: 'now', resourceVersion: '8', generateName: 'y-' },
      ...{ generation: 9, deletionTimestamp: 'late', deletionGracePeriodSeconds: 9, selfLink: '/x' },
    },
  ]) {
    const object = withMeta(said);
    carryMeta(object, withMeta(old));
    assert.deepEqual(object.metadata, old);
  }
  const alive = withMeta({ name: 'x', deletionTimestamp: 'soon', deletionGracePeriodSeconds: 0 });
  const before = { name: 'x', uid: 'u', creationTimestamp: 'then', resourceVersion: '7' };
  carryMeta(alive, withMeta(before));
  assert.deepEqual(alive.metadata, before, 'an update cannot set deletionTimestamp');
});

describe('a condition', () => {
  const current = withMeta({ name: 'x', uid: 'u', resourceVersion: '7' });
  for (const conditions of [{}, { uid: 'u' }, { resourceVersion: '7' }])
    test(`${JSON.stringify(conditions)} holds`, () => checkPreconditions(pods, current, conditions));

  for (const [conditions, message] of [
    [{ uid: 'v' }, /Precondition failed: UID in precondition: v, UID in object meta: u/],
    [{ uid: 'v', resourceVersion: '7' }, /UID in precondition/],
    [{ uid: '' }, /UID in precondition/],
    [{ resourceVersion: '' }, /the object has been modified/],
    [{ resourceVersion: '0' }, /the object has been modified/],
    [{ resourceVersion: '8' }, /the object has been modified/],
    [{ uid: 'u', resourceVersion: '6' }, /the object has been modified/],
  ] as const)
    test(`${JSON.stringify(conditions)} does not hold`, () =>
      assert.throws(
        () => checkPreconditions(pods, current, conditions),
        (error) => error instanceof StatusError && error.status.code === 409 && message.test(error.message),
      ));
});

test('an update may omit managedFields', () => {
  for (const said of [{}, { uid: '', resourceVersion: '' }, { resourceVersion: '0' }])
    assert.deepEqual(conditionsOf(said), {});
  assert.deepEqual(conditionsOf({ uid: 'u', resourceVersion: '7' }), { uid: 'u', resourceVersion: '7' });
});

test('an object that is being deleted gets no new finalizers', () => {
  const deleted = withMeta({ deletionTimestamp: 'soon', finalizers: ['a/b', 'c/d'] });
  const next = (finalizers?: string[]) => withMeta({ ...(finalizers && { finalizers }) });
  assert.deepEqual(validateFinalizersOfDeleted(next(['x/y']), withMeta({})), []);
  for (const fewer of [undefined, [], ['c/d'], ['c/d', 'a/b']])
    assert.deepEqual(validateFinalizersOfDeleted(next(fewer), deleted), []);
  const [cause, ...more] = validateFinalizersOfDeleted(next(['a/b', 'x/y', 'z/z']), deleted);
  assert.deepEqual([cause?.field, cause?.reason], ['metadata.finalizers', 'FieldValueForbidden']);
  assert.match(cause?.message ?? '', /found new finalizers \["x\/y", "z\/z"\]/);
  assert.deepEqual(more, []);
  const bare = withMeta({ deletionTimestamp: 'soon' });
  assert.equal(validateFinalizersOfDeleted(next(['x/y']), bare).length, 1);
});
