import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitRangeResource } from '../../../../../src/api/core/v1/limit-range.ts';
import { maxCauses } from '../../../../../src/apimachinery/status-error.ts';
import { cells, created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, spec } from '../../../../fixtures/workloads.ts';

const range = {
  ...head('v1', 'LimitRange'),
  spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '100m' } }] },
};
const limits = (...items: object[]) => spec({ limits: items });
const item = (fields: object) => limits({ type: 'Container', ...fields });
const at = 'spec.limits[0]';

testCreate(limitRangeResource, range, [
  ['nothing', { spec: null }],
  ['a type of another domain', limits({ type: 'example.com/thing', max: { storage: '1' } })],
  [
    'another type',
    limits({ type: 'Node' }, { type: 'a b' }),
    `${at}.type: Invalid value: "Node": must be a standard limit type or fully qualified`,
    'spec.limits[1].type: Invalid value: "a b": name part',
  ],
  ['no type', limits({}), `${at}.type: Required value`],
  [
    'a type twice',
    limits({ type: 'Pod' }, { type: 'Container' }, { type: 'Pod' }),
    'spec.limits[2].type: Duplicate value: "Pod"',
  ],
  [
    'a resource that containers do not have',
    item({ max: { pods: '1' }, maxLimitRequestRatio: { 'a b': '1' } }),
    `${at}.max[pods]: Invalid value: "pods": must be a standard resource for containers`,
    `${at}.default[pods]: Invalid value: "pods": must be a standard resource for containers`,
    `${at}.defaultRequest[pods]: Invalid value: "pods": must be a standard resource for containers`,
    `${at}.maxLimitRequestRatio[a b]: Invalid value: "a b": name part`,
  ],
  [
    'defaults of a pod',
    limits({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
    `${at}.default: Forbidden: may not be specified when \`type\` is 'Pod'`,
    `${at}.defaultRequest: Forbidden: may not be specified when \`type\` is 'Pod'`,
  ],
  ['a claim', limits({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } })],
  [
    'a claim without minimum and maximum',
    limits({ type: 'PersistentVolumeClaim', max: { cpu: '1' } }),
    `${at}.limits: Required value: either minimum or maximum storage value is required, but neither was provided`,
  ],
  [
    'a minimum above the maximum of a pod',
    limits({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }),
    `${at}.min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`,
  ],
  [
    'a default below the minimum',
    item({ min: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
    `${at}.defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1`,
    `${at}.default[cpu]: Invalid value: "2": min value 2 is greater than default value 1`,
  ],
  [
    'a default above the maximum',
    item({ max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '2' } }),
    `${at}.defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max value 1`,
    `${at}.default[cpu]: Invalid value: "1": default value 2 is greater than max value 1`,
  ],
  [
    'a request above the limit',
    item({ default: { cpu: '1' }, defaultRequest: { cpu: '2' } }),
    `${at}.defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1`,
  ],
  ['a ratio', item({ min: { cpu: '1' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '4' } })],
  [
    'a ratio below 1',
    item({ maxLimitRequestRatio: { cpu: '500m' } }),
    `${at}.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`,
  ],
  [
    'a ratio above the quotient of maximum and minimum',
    item({ min: { cpu: '3' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '2' } }),
    `${at}.maxLimitRequestRatio[cpu]: Invalid value: "2": ratio 2 is greater than max/min = 1.333333`,
  ],
  [
    'a ratio with a minimum of 0',
    item({ min: { cpu: '0' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '9' } }),
  ],
  [
    'a device whose default request differs from its default limit',
    item({ default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }),
    `${at}.defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu`,
  ],
]);

testUpdate(limitRangeResource, range, [
  ['a changed type and maximum', limits({ type: 'Pod', max: { memory: '1Gi' } })],
  ['an invalid type', limits({ type: 'Node' }), `${at}.type: Invalid value: "Node"`],
]);

test('a LimitRange of type Container gets its defaults', () => {
  const made = (fields: object) => created(limitRangeResource, merge(range, item(fields))).spec.limits[0];
  assert.deepEqual(made({}), { type: 'Container' });
  assert.deepEqual(made({ max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' }, default: { storage: '1' } }), {
    type: 'Container',
    max: { cpu: '2' },
    min: { cpu: '1', memory: '1Mi' },
    default: { cpu: '2', storage: '1' },
    defaultRequest: { cpu: '2', memory: '1Mi', storage: '1' },
  });
  assert.deepEqual(made({ max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '100u' } }), {
    type: 'Container',
    max: { cpu: '2' },
    default: { cpu: '1' },
    defaultRequest: { cpu: '1m' },
  });
  const pod = created(limitRangeResource, merge(range, limits({ type: 'Pod', max: { cpu: '2' } })));
  assert.deepEqual(pod.spec.limits, [{ type: 'Pod', max: { cpu: '2' } }]);
});

test('a LimitRange has the columns of kubectl', () => {
  const creationTimestamp = '2026-03-01T12:00:00Z';
  const made = created(limitRangeResource, merge(range, { metadata: { creationTimestamp } }));
  assert.deepEqual(cells(limitRangeResource, made, 0), { Name: 'web', 'Created At': creationTimestamp });
});

test('the validation of a limit range stops when there are more causes than are reported', () => {
  const amounts = (amount: string) =>
    Object.fromEntries(Array.from({ length: 10 * maxCauses }, (_, index) => [`a.b/k${index}`, amount]));
  const wrongNames = Object.fromEntries(Object.entries(amounts('1')).map(([name]) => [`${name} x`, '1']));
  for (const wrong of [
    { type: 'Pod', min: wrongNames },
    { type: 'Pod', min: amounts('2'), max: amounts('1') },
  ]) {
    const large = created(limitRangeResource, merge(range, limits(wrong)));
    assert.equal(limitRangeResource.strategy.validate?.(large).length, maxCauses + 1);
  }
});
