import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod.ts';
import { deepCopy, deepEqual } from '../../../src/apimachinery/equality.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import {
  countGeneration,
  prepareForUpdate,
  validateForUpdate,
} from '../../../src/apiserver/registry/preparation.ts';
import { created, writer } from '../../fixtures/kinds.ts';

const definition = podResource as unknown as ResourceDefinition;

test('a write of the status changes nothing else of a pod but what nodes may', () => {
  const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid: name });
  const manager = (name: string) => ({ manager: name, operation: 'Update' });
  const metadata = {
    ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 3 },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [owner('mine')],
    managedFields: [manager('mine')],
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
      managedFields: [manager('other')],
    } as Pod['metadata'],
    spec: { ...deepCopy(old.spec), nodeName: 'other' },
    status: { phase: 'Running' },
  };
  prepareForUpdate(definition, next, old, 'status', writer);
  assert.deepEqual(next, { ...old, status: { phase: 'Running' } });
  delete next.metadata.managedFields;
  delete next.metadata.ownerReferences;
  prepareForUpdate(definition, next, old, 'status', writer);
  assert.deepEqual(next.metadata, old.metadata, 'nor by leaving it out');
});

test('an object that was stored before a default existed can be changed, and is not by the default alone', () => {
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
  validateForUpdate(definition, labelled, stored, 'main', '');
  countGeneration(definition, labelled, stored);
  assert.equal(labelled.metadata.generation, 1);
  assert.equal(labelled.spec.enableServiceLinks, true);

  const same = deepCopy(stored);
  prepareForUpdate(definition, same, stored, 'main', writer);
  assert.ok(deepEqual(same, stored), 'nothing is left to write');
});
