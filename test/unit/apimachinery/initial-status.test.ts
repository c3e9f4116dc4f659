import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as kinds from '../../../src/api/kinds.ts';
import { initialStatus } from '../../../src/apimachinery/initial-status.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../../src/apimachinery/schema-types.ts';
import { kindFields, registry } from '../../../src/features/kinds.ts';

const of = (definition: unknown) => initialStatus(objectTypeOf(definition as ResourceDefinition, kindFields));

test('a new status has the counts that Go always writes; for most kinds it is empty', () => {
  const { deploymentResource, jobResource, resourceQuotaResource, replicaSetResource } = kinds;
  for (const kind of [deploymentResource, jobResource, resourceQuotaResource]) assert.deepEqual(of(kind), {});
  assert.deepEqual(of(replicaSetResource), { replicas: 0 });
  assert.deepEqual(of(kinds.statefulSetResource), { replicas: 0, availableReplicas: 0 });
  assert.deepEqual(of(kinds.daemonSetResource), {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  });
  assert.deepEqual(of(kinds.podDisruptionBudgetResource), {
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
  });
  assert.deepEqual(of(kinds.ingressResource), { loadBalancer: {} });
});

test('two objects do not share a status', () => {
  const first = of(kinds.replicaSetResource);
  assert.ok(first);
  first.replicas = 5;
  assert.deepEqual(of(kinds.replicaSetResource), { replicas: 0 });
});

test('a kind without a status and a kind of minik8s get no status', () => {
  assert.equal(of(kinds.configMapResource), undefined);
  const own = registry.filter(({ group }) => group.includes('minik8s'));
  assert.ok(own.length > 0);
  for (const kind of own) assert.equal(of(kind), undefined, kind.kind);
});
