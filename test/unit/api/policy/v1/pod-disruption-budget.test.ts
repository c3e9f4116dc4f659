import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDisruptionBudgetResource } from '../../../../../src/api/policy/v1/pod-disruption-budget.ts';
import { cells, created, merge, testCreate, testStatus, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, spec } from '../../../../fixtures/workloads.ts';

const budget = {
  ...head('policy/v1', 'PodDisruptionBudget'),
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
};

testCreate(podDisruptionBudgetResource, budget, [
  ['nothing', { spec: null }],
  ['every pod', spec({ selector: {} })],
  ['a share', spec({ minAvailable: '100%' })],
  [
    'both numbers',
    spec({ maxUnavailable: 0, selector: null }),
    'spec: Invalid value: {"minAvailable":1,"maxUnavailable":0}: minAvailable and maxUnavailable cannot be both set',
  ],
  [
    'a negative number',
    spec({ minAvailable: -1 }),
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'more than 100 %',
    spec({ minAvailable: null, maxUnavailable: '101%' }),
    'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    'no number',
    spec({ minAvailable: 'most' }),
    'spec.minAvailable: Invalid value: "most": a valid percent string',
  ],
  [
    'an invalid selector',
    spec({ selector: { matchLabels: { app: 'a b' } } }),
    'spec.selector.matchLabels: Invalid value: "a b": a valid label',
  ],
  ['an unhealthy pod eviction policy', spec({ unhealthyPodEvictionPolicy: 'AlwaysAllow' })],
  [
    'another policy',
    spec({ unhealthyPodEvictionPolicy: 'Never' }),
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ],
]);

testUpdate(podDisruptionBudgetResource, budget, [
  [
    'all fields changed',
    spec({ minAvailable: null, maxUnavailable: 2, selector: { matchLabels: { app: 'other' } } }),
  ],
]);

const numbers = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 3 };
const condition = {
  type: 'DisruptionAllowed',
  status: 'True',
  reason: 'SufficientPods',
  lastTransitionTime: '2026-03-01T12:00:00Z',
};
const at = 'status.conditions[0]';
testStatus(podDisruptionBudgetResource, budget, [
  [
    'a status as its controller writes it',
    undefined,
    { ...numbers, conditions: [condition], disruptedPods: { a: '2026-03-01T12:00:00Z' } },
  ],
  [
    'negative numbers',
    numbers,
    { disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1 },
    'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
    'status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0',
    'status.expectedPods: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'conditions without any field',
    numbers,
    { conditions: [{ type: 'a b', status: 'True', observedGeneration: -1 }] },
    `${at}.type: Invalid value: "a b": name part`,
    `${at}.observedGeneration: Invalid value: -1: must be greater than or equal to zero`,
    `${at}.lastTransitionTime: Required value: must be set`,
    `${at}.reason: Required value: must be set`,
  ],
  [
    'conditions with texts above the maximum length',
    numbers,
    { conditions: [{ ...condition, reason: 'a'.repeat(1025), message: 'a'.repeat(32_769) }] },
    `${at}.reason: Too long: may not be more than 1024 bytes`,
    `${at}.message: Too long: may not be more than 32768 bytes`,
  ],
  [
    'conditions twice, and without a reason',
    numbers,
    { conditions: [condition, { ...condition, reason: 'so so' }] },
    'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
    'status.conditions[1].reason: Invalid value: "so so": a condition reason begins with a letter',
  ],
  [
    'conditions with an unknown status',
    numbers,
    { conditions: [{ ...condition, status: 'Maybe' }] },
    `${at}.status: Unsupported value: "Maybe"`,
  ],
]);

test('the columns of a budget', () => {
  const texts = (patch: object, status?: object) =>
    cells(
      podDisruptionBudgetResource,
      Object.assign(created(podDisruptionBudgetResource, merge(budget, patch)), { status }),
      0,
    );
  assert.deepEqual(texts({}), {
    Name: 'web',
    'Min Available': '1',
    'Max Unavailable': 'N/A',
    'Allowed Disruptions': 0,
    Age: '<unknown>',
  });
  const other = texts(spec({ minAvailable: null, maxUnavailable: '20%' }), numbers);
  assert.deepEqual(
    [other['Min Available'], other['Max Unavailable'], other['Allowed Disruptions']],
    ['N/A', '20%', 1],
  );
});
