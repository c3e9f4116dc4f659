import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject, ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import {
  type DeletionOptions,
  isFullyFinalized,
  markDeleted,
} from '../../../../src/apiserver/registry/deletion.ts';

const now = Date.UTC(2026, 0, 1);
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString().replace('.000', '');

const object = (kind: string, metadata: Partial<ObjectMeta>, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: at(-100), ...metadata },
  ...rest,
});
const running = { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, status: { phase: 'Running' } };
const pod = (metadata: Partial<ObjectMeta> = {}) => object('Pod', metadata, structuredClone(running));

interface Case {
  readonly what: string;
  readonly definition: ResourceDefinition;
  readonly object: KubeObject;
  readonly options?: Partial<DeletionOptions>;
  readonly result: 'remove' | 'mark' | 'keep';
  readonly expect?: Partial<ObjectMeta>;
  readonly status?: object;
}

const definitionOf = (definition: unknown) => definition as ResourceDefinition;
const maps = definitionOf(configMapResource);
const pods = definitionOf(podResource);
const keeping: ResourceDefinition = { ...maps, strategy: { ...maps.strategy, orphansByDefault: true } };

const cases: readonly Case[] = [
  { what: 'no finalizer exists', definition: maps, object: object('ConfigMap', {}), result: 'remove' },
  {
    what: 'a finalizer exists',
    definition: maps,
    object: object('ConfigMap', { finalizers: ['a/b'], generation: 4 }),
    result: 'mark',
    expect: { deletionTimestamp: at(0), deletionGracePeriodSeconds: 0, generation: 5 },
  },
  {
    what: 'the object is deleted again',
    definition: maps,
    object: object('ConfigMap', {
      finalizers: ['a/b'],
      deletionTimestamp: at(-5),
      deletionGracePeriodSeconds: 0,
    }),
    result: 'keep',
  },
  {
    what: 'its dependents are orphaned',
    definition: maps,
    object: object('ConfigMap', { finalizers: ['foregroundDeletion', 'a/b'] }),
    options: { propagationPolicy: 'Orphan' },
    result: 'mark',
    expect: { finalizers: ['a/b', 'orphan'] },
  },
  {
    what: 'its kind orphans its dependents by default',
    definition: keeping,
    object: object('ConfigMap', {}),
    result: 'mark',
    expect: { finalizers: ['orphan'] },
  },
  {
    what: 'foreground deletion was requested before, for a kind that orphans by default',
    definition: keeping,
    object: object('ConfigMap', {
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: at(-5),
      deletionGracePeriodSeconds: 0,
    }),
    result: 'keep',
  },
  {
    what: 'its kind orphans by default, but the request specifies otherwise',
    definition: keeping,
    object: object('ConfigMap', {}),
    options: { propagationPolicy: 'Background' },
    result: 'remove',
  },
  {
    what: 'a request replaces foreground deletion',
    definition: maps,
    object: object('ConfigMap', {
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: at(-5),
      deletionGracePeriodSeconds: 0,
    }),
    options: { propagationPolicy: 'Background' },
    result: 'remove',
  },
  {
    what: 'a pod runs',
    definition: pods,
    object: pod(),
    result: 'mark',
    expect: { deletionTimestamp: at(30), deletionGracePeriodSeconds: 30 },
  },
  {
    what: 'a request has another grace period for a pod',
    definition: pods,
    object: pod(),
    options: { gracePeriodSeconds: 3 },
    result: 'mark',
    expect: { deletionTimestamp: at(3), deletionGracePeriodSeconds: 3 },
  },
  {
    what: 'a request sets the grace period of a pod to 0',
    definition: pods,
    object: pod(),
    options: { gracePeriodSeconds: 0 },
    result: 'remove',
  },
  {
    what: 'a shorter grace period has passed already',
    definition: pods,
    object: pod({ deletionTimestamp: at(10), deletionGracePeriodSeconds: 30 }),
    options: { gracePeriodSeconds: 5 },
    result: 'mark',
    expect: { deletionTimestamp: at(0), deletionGracePeriodSeconds: 5 },
  },
  {
    what: 'a longer grace period is requested',
    definition: pods,
    object: pod({ deletionTimestamp: at(10), deletionGracePeriodSeconds: 30 }),
    options: { gracePeriodSeconds: 60 },
    result: 'keep',
  },
  {
    what: 'a namespace has the finalizer for its contents',
    definition: definitionOf(namespaceResource),
    object: object('Namespace', {}, { spec: { finalizers: ['kubernetes'] } }),
    result: 'mark',
  },
  {
    what: 'a namespace has no finalizer',
    definition: definitionOf(namespaceResource),
    object: object('Namespace', {}, { spec: {} }),
    result: 'remove',
  },
  {
    what: 'a namespace has only a finalizer in its metadata',
    definition: definitionOf(namespaceResource),
    object: object('Namespace', { finalizers: ['a/b'] }, { status: { phase: 'Active', kept: 1 } }),
    result: 'mark',
    status: { phase: 'Terminating', kept: 1 },
  },
  {
    what: 'another kind called Namespace has spec.finalizers',
    definition: maps,
    object: object('Namespace', {}, { apiVersion: 'example.com/v1', spec: { finalizers: ['kubernetes'] } }),
    result: 'remove',
  },
  {
    what: 'another kind called Namespace is marked for deletion',
    definition: maps,
    object: object('Namespace', { finalizers: ['a/b'] }, { apiVersion: 'example.com/v1' }),
    result: 'mark',
  },
  {
    what: 'another kind has spec.finalizers',
    definition: maps,
    object: object('ConfigMap', {}, { spec: { finalizers: ['kubernetes'] } }),
    result: 'remove',
  },
  {
    what: 'the request does not mention its dependents',
    definition: maps,
    object: object('ConfigMap', { finalizers: ['orphan', 'a/b', 'foregroundDeletion'] }),
    result: 'mark',
    expect: { finalizers: ['orphan', 'a/b', 'foregroundDeletion'] },
  },
  {
    what: 'its dependents are orphaned, and no other finalizer exists',
    definition: maps,
    object: object('ConfigMap', {}),
    options: { propagationPolicy: 'Orphan' },
    result: 'mark',
    expect: { finalizers: ['orphan'] },
  },
  {
    what: 'its dependents are deleted first',
    definition: maps,
    object: object('ConfigMap', { finalizers: ['orphan'] }),
    options: { propagationPolicy: 'Foreground' },
    result: 'mark',
    expect: { finalizers: ['foregroundDeletion'] },
  },
  {
    what: 'its dependents are deleted later',
    definition: maps,
    object: object('ConfigMap', { finalizers: ['orphan'] }),
    options: { propagationPolicy: 'Background' },
    result: 'remove',
    expect: { finalizers: undefined },
  },
  {
    what: 'a pod has a grace period of an hour',
    definition: pods,
    object: pod(),
    options: { gracePeriodSeconds: 3600 },
    result: 'mark',
    expect: { deletionTimestamp: at(3600), deletionGracePeriodSeconds: 3600 },
  },
  {
    what: 'a pod has a grace period beyond the range of timestamps',
    definition: pods,
    object: pod(),
    options: { gracePeriodSeconds: 10 ** 12 },
    result: 'mark',
    expect: { deletionTimestamp: at(2_147_483_647), deletionGracePeriodSeconds: 2_147_483_647 },
  },
  {
    what: 'less than the requested grace period remains',
    definition: pods,
    object: pod({ deletionTimestamp: at(3600), deletionGracePeriodSeconds: 7200 }),
    options: { gracePeriodSeconds: 5400 },
    result: 'mark',
    expect: { deletionTimestamp: at(1800), deletionGracePeriodSeconds: 5400 },
  },
  {
    what: 'the same grace period is requested after it has passed',
    definition: pods,
    object: pod({ deletionTimestamp: at(-5), deletionGracePeriodSeconds: 30 }),
    options: { gracePeriodSeconds: 30 },
    result: 'keep',
  },
  {
    what: 'a negative grace period is requested',
    definition: pods,
    object: pod({ deletionTimestamp: at(10), deletionGracePeriodSeconds: 30 }),
    options: { gracePeriodSeconds: -1 },
    result: 'remove',
    expect: { deletionTimestamp: at(0), deletionGracePeriodSeconds: 0 },
  },
  ...[0, 5].map(
    (gracePeriodSeconds): Case => ({
      what: `it had no grace, and ${gracePeriodSeconds} seconds are asked for`,
      definition: maps,
      object: object('ConfigMap', { finalizers: ['a/b'], deletionTimestamp: at(-5) }),
      options: { gracePeriodSeconds },
      result: 'keep',
    }),
  ),
];

test('an object without a deletion timestamp is not removable; a marked object without grace period and finalizers is removable', () => {
  assert.equal(isFullyFinalized(maps, object('ConfigMap', {})), false);
  assert.equal(isFullyFinalized(maps, object('ConfigMap', { deletionTimestamp: at(0) })), true);
  assert.equal(
    isFullyFinalized(maps, object('ConfigMap', { deletionTimestamp: at(0), finalizers: ['a/b'] })),
    false,
  );
});

/** Returns whether the object shows that it is being deleted; other kinds are removed without a mark. */
const isSeenGoing = ({ strategy }: ResourceDefinition, { metadata }: KubeObject) =>
  !!(strategy.gracePeriodSeconds || strategy.beginDeletion || metadata.deletionTimestamp);

describe('markDeleted', () => {
  for (const { what, definition, object: given, options, result, expect = {}, status } of cases) {
    it(`${result} when ${what}`, () => {
      const all = { gracePeriodSeconds: undefined, propagationPolicy: undefined, ...options };
      const copy = structuredClone(given);
      assert.equal(markDeleted(definition, copy, all, now).type, result);
      for (const [field, value] of Object.entries(expect)) {
        assert.deepEqual(copy.metadata[field as keyof ObjectMeta], value, field);
      }
      if (status || given.kind !== 'Namespace') {
        assert.deepEqual(
          (copy as { status?: unknown }).status,
          status ?? (given as { status?: unknown }).status,
        );
      } else if (given.apiVersion !== 'v1') assert.ok(!('status' in copy));
      if (result === 'keep') assert.deepEqual(copy, given);
      const removed = result === 'remove' && isSeenGoing(definition, given);
      assert.equal(isFullyFinalized(definition, copy), removed);
      // A second decision changes nothing more.
      if (result !== 'remove') assert.equal(markDeleted(definition, copy, all, now).type, 'keep');
    });
  }
});
