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
import { created } from '../../fixtures/kinds.ts';

const definition = podResource as unknown as ResourceDefinition;

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
  prepareForUpdate(definition, labelled, stored, 'main');
  validateForUpdate(definition, labelled, stored, 'main', '');
  countGeneration(definition, labelled, stored);
  assert.equal(labelled.metadata.generation, 1);
  assert.equal(labelled.spec.enableServiceLinks, true);

  const same = deepCopy(stored);
  prepareForUpdate(definition, same, stored, 'main');
  assert.ok(deepEqual(same, stored), 'nothing is left to write');
});
