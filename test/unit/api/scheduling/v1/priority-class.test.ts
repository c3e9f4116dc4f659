import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priorityClassResource } from '../../../../../src/api/scheduling/v1/priority-class.ts';
import { cells, created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const high = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'high' },
  value: 1000,
};
const system = (name: string, value: number, globalDefault = false) => ({
  metadata: { name },
  value,
  globalDefault,
});
const reserved = (why: string) =>
  `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ${why}`;

testCreate(priorityClassResource, high, [
  ['the highest', { value: 1_000_000_000 }],
  ['a negative value', { value: -5 }],
  ['no value', { value: null }],
  [
    'above users',
    { value: 1_000_000_001 },
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ],
  ['the global default, without preemption', { globalDefault: true, preemptionPolicy: 'Never' }],
  [
    'another preemption',
    { preemptionPolicy: 'Always' },
    'preemptionPolicy: Unsupported value: "Always": supported values: "Never", "PreemptLowerPriority"',
  ],
  [
    'a system class',
    system('system-other', 1),
    reserved('system-other is not a known system priority class'),
  ],
  [
    'a system class with another value',
    system('system-node-critical', 1),
    reserved('value of system-node-critical PriorityClass must be 2000001000'),
  ],
  [
    'a system class as the global default',
    system('system-cluster-critical', 2_000_000_000, true),
    reserved('globalDefault of system-cluster-critical PriorityClass must be false'),
  ],
]);

test('the classes of the system can be created with their values', () => {
  const made = created(priorityClassResource, merge(high, system('system-node-critical', 2_000_001_000)));
  assert.deepEqual(priorityClassResource.strategy.validate?.(made), []);
});

testUpdate(priorityClassResource, high, [
  ['a changed description', { description: 'x', globalDefault: true }],
  ['its value', { value: 5 }, 'value: Forbidden: may not be changed in an update.'],
  [
    'its preemption',
    { preemptionPolicy: 'Never' },
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ],
]);

test('a PriorityClass gets the defaults of Kubernetes', () => {
  const made = created(priorityClassResource, merge(high, { value: null }));
  assert.deepEqual([made.value, made.preemptionPolicy], [0, 'PreemptLowerPriority']);
});

test('the columns of a priority class', () => {
  assert.deepEqual(cells(priorityClassResource, created(priorityClassResource, high), 0), {
    Name: 'high',
    Value: 1000,
    'Global-Default': false,
    Age: '<unknown>',
    PreemptionPolicy: 'PreemptLowerPriority',
  });
  const forAll = created(priorityClassResource, merge(high, { globalDefault: true }));
  assert.equal(cells(priorityClassResource, forAll, 0)['Global-Default'], true);
});
