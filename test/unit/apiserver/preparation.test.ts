import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { deepCopy, deepEqual } from '../../../src/apimachinery/equality.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { inOneGo } from '../../../src/apimachinery/steps.ts';
import {
  countGeneration,
  prepareForUpdate,
  validateForUpdate,
} from '../../../src/apiserver/registry/preparation.ts';
import { created, writer } from '../../fixtures/kinds.ts';

const definition = podResource as unknown as ResourceDefinition;

test('a write of the status changes no other fields of a pod than nodes may', () => {
  const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid: name });
  const metadata = {
    ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 3 },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [owner('mine')],
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 30,
  };
  const spec = { nodeName: 'n', containers: [{ name: 'web', image: 'nginx:1.27' }] };
  const old: Pod = { ...created(podResource, { apiVersion: 'v1', kind: 'Pod', metadata, spec }), status: {} };
  const { labels: _, ...others } = old.metadata;
  const next: Pod = {
    ...deepCopy(old),
    metadata: {
      ...deepCopy(others),
      uid: 'another',
      generation: 9,
      creationTimestamp: '2027-01-01T00:00:00Z',
      deletionTimestamp: undefined,
      deletionGracePeriodSeconds: undefined,
      ownerReferences: [owner('other')],
    } as Pod['metadata'],
    spec: { ...deepCopy(old.spec), nodeName: 'other' },
    status: { phase: 'Running' },
  };
  prepareForUpdate(definition, next, old, 'status', writer);
  assert.deepEqual(next, { ...old, status: { phase: 'Running' } });
  delete next.metadata.ownerReferences;
  prepareForUpdate(definition, next, old, 'status', writer);
  assert.deepEqual(next.metadata, old.metadata, 'an absent field changes nothing');
});

test('an object that was stored before a default existed can be changed, and the default alone is no change', () => {
  const pod: Pod = created(podResource, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
  });
  const stored = deepCopy(pod);
  delete stored.spec.enableServiceLinks;
  const labelled = deepCopy(stored);
  labelled.metadata.labels = { app: 'web' };
  prepareForUpdate(definition, labelled, stored, 'main', writer);
  inOneGo(validateForUpdate(definition, labelled, stored, 'main', ''));
  countGeneration(definition, labelled, stored);
  assert.equal(labelled.metadata.generation, 1);
  assert.equal(labelled.spec.enableServiceLinks, true);

  const same = deepCopy(stored);
  prepareForUpdate(definition, same, stored, 'main', writer);
  assert.ok(deepEqual(same, stored), 'nothing is left to write');
});

test('a subresource overrides only its own settings of the kind', () => {
  const metadata = {
    ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 3 },
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web' },
  };
  const spec = { containers: [{ name: 'web', image: 'nginx:1.27' }] };
  const old: Pod = created(podResource, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const before = deepCopy(old);
  const conditions = [{ type: 'PodScheduled', status: 'True' }];
  const next = deepCopy({
    ...old,
    metadata: { ...metadata, labels: {}, finalizers: ['a/b'], generation: 9 },
    spec: { ...old.spec, nodeName: 'n', containers: [], priority: 7 },
    status: { ...old.status, phase: 'Running', conditions },
    more: true,
  }) as Pod;
  prepareForUpdate(definition, next, old, 'binding', writer);
  inOneGo(validateForUpdate(definition, next, old, 'binding', 'binding'));
  assert.deepEqual(next, {
    ...old,
    spec: { ...old.spec, nodeName: 'n' },
    status: { ...old.status, conditions },
  });
  next.spec.containers.length = 0;
  assert.deepEqual(old, before, 'what is stored is not shared');
  for (const part of ['finalize', '']) {
    assert.throws(() => prepareForUpdate(definition, next, old, part, writer), /pods have no rules for/);
    assert.throws(
      () => inOneGo(validateForUpdate(definition, next, old, part, part)),
      /pods have no rules for/,
    );
  }
});
