/** Objects that a quota counts, and the status that the counts give. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResourceQuota } from '../../../../src/api/core/v1/resource-quota.ts';
import { evaluatorOf } from '../../../../src/api/quota/evaluators.ts';
import { readAmounts, writeAmounts } from '../../../../src/apimachinery/amounts.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  type Counted,
  givenUp,
  hasRisen,
  observe,
  planStatus,
} from '../../../../src/controllers/quotas/resource-quota-plan.ts';

const second = 1_000;
const now = Date.parse('2026-01-01T00:00:00Z');
type Written = Readonly<Record<string, string>>;

const quotaOf = (hard: Written, over: object = {}, spec: object = {}) =>
  ({ metadata: { name: 'q' }, spec: { hard, ...spec }, ...over }) as unknown as ResourceQuota;
const counted = (plural: string, ...objects: KubeObject[]): Counted => ({
  evaluator: evaluatorOf({ group: '', plural }) as Counted['evaluator'],
  objects: () => objects,
});
const pod = (uid: string, cpu: string, over: object = {}) =>
  ({
    metadata: { uid },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
    ...over,
  }) as unknown as KubeObject;
const ended = { status: { phase: 'Failed' } };

describe('the usage', () => {
  const [a, b] = [pod('a', '1'), pod('b', '500m', ended)];

  it('is that of all objects of the limited kinds', () => {
    const hard = {
      pods: '9',
      'count/pods': '9',
      'requests.cpu': '9',
      secrets: '9',
      'count/widgets.example.com': '1',
    };
    const unread = { ...counted('services'), objects: () => assert.fail('nothing of services is limited') };
    const { used } = observe(quotaOf(hard), [counted('pods', a, b), counted('secrets'), unread], now);
    assert.deepEqual(writeAmounts(used), { pods: '1', 'count/pods': '2', 'requests.cpu': '1', secrets: '0' });
  });

  it('counts the objects that all scopes select', () => {
    const scopes = {
      scopes: ['NotTerminating'],
      scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'Exists' }] },
    };
    const best = { metadata: { uid: 'c' }, spec: { containers: [{ name: 'c' }] } } as unknown as KubeObject;
    const kinds = [counted('pods', a, best), counted('services', pod('s', '1'))];
    const { used } = observe(quotaOf({ pods: '9', 'count/services': '9' }, {}, scopes), kinds, now);
    assert.deepEqual(writeAmounts(used), { pods: '1', 'count/services': '0' });
  });

  it('decreases when the grace period of a pod that is being deleted has passed', () => {
    const deletionTimestamp = new Date(now + 5 * second).toISOString();
    const going = (uid: string, deletionGracePeriodSeconds: number) =>
      pod(uid, '1', { metadata: { uid, deletionTimestamp, deletionGracePeriodSeconds } });
    const quota = quotaOf({ pods: '9' });
    const kinds = [counted('pods', a, going('x', 30), going('y', 20))];
    const before = observe(quota, kinds, now);
    assert.deepEqual([writeAmounts(before.used), before.until], [{ pods: '3' }, now + 25 * second + 1]);
    const after = observe(quota, kinds, now + 25 * second + 1, before);
    assert.deepEqual([writeAmounts(after.used), after.until], [{ pods: '2' }, now + 35 * second + 1]);
    assert.deepEqual(writeAmounts(givenUp(before, after)), { pods: '1' });
  });

  it('is not measured again for unchanged objects, unless the quota has changed', () => {
    let asked = 0;
    const plain = counted('pods');
    const kind = (...objects: KubeObject[]): Counted => ({
      evaluator: {
        ...plain.evaluator,
        usage: (...asks) => {
          asked++;
          return plain.evaluator.usage(...asks);
        },
      },
      objects: () => objects,
    });
    const first = observe(quotaOf({ pods: '9' }), [kind(a, pod('b', '1'))], now);
    assert.equal(asked, 2);
    const changed = pod('b', '1', ended);
    const next = observe(quotaOf({ pods: '9' }), [kind(a, changed)], now, first);
    assert.deepEqual([asked, writeAmounts(next.used)], [3, { pods: '1' }]);
    const other = observe(quotaOf({ 'requests.cpu': '9' }), [kind(a, changed)], now, next);
    assert.deepEqual([asked, writeAmounts(other.used)], [5, { 'requests.cpu': '1' }]);
  });
});

describe('the usage that was released', () => {
  const quota = quotaOf({ pods: '9', 'requests.cpu': '9' });
  const of = (...pods: KubeObject[]) => observe(quota, [counted('pods', ...pods)], now);

  it('is that of deleted and reduced objects', () => {
    const before = of(pod('a', '1'), pod('b', '2'), pod('c', '3'));
    const after = of(pod('a', '1'), pod('b', '2', ended), pod('d', '9'));
    assert.deepEqual(writeAmounts(givenUp(before, after)), { pods: '2', 'requests.cpu': '5' });
  });

  it('is zero if no usage was known before, or if more is used', () => {
    assert.equal(givenUp(undefined, of(pod('a', '1'))).size, 0);
    assert.equal(givenUp(of(pod('a', '1')), of(pod('a', '2'))).size, 0);
  });
});

describe('the status of a quota', () => {
  const plan = (quota: ResourceQuota, observed: Written, gone: Written, settled: boolean) =>
    planStatus(quota, readAmounts(observed), readAmounts(gone), settled);
  const hard = { pods: '9' };
  const told = (used: Written, limits: Written = hard) => quotaOf(hard, { status: { hard: limits, used } });

  it('is written at once for a new quota, without usage for resources that cannot be counted', () => {
    assert.deepEqual(plan(quotaOf(hard), { pods: '2' }, {}, false), {
      status: { hard, used: { pods: '2' } },
      unsettled: false,
    });
    assert.deepEqual(plan(quotaOf(hard), {}, {}, false).status, { hard, used: {} });
    assert.deepEqual(plan(quotaOf({}), {}, {}, false).status, { hard: {}, used: {} });
  });

  it('is unchanged if the quantities are equal, in any notation', () => {
    assert.deepEqual(plan(told({ pods: '2' }), { pods: '2000m' }, {}, false), { unsettled: false });
  });

  it('keeps resources that cannot be counted now, and drops resources without a limit', () => {
    const quota = quotaOf({ 'count/a.b': '9' }, { status: { hard, used: { pods: '1', 'count/a.b': '3' } } });
    assert.deepEqual(plan(quota, {}, {}, true).status, {
      hard: { 'count/a.b': '9' },
      used: { 'count/a.b': '3' },
    });
  });

  it('reports an increase at once', () => {
    assert.deepEqual(plan(told({ pods: '2' }), { pods: '3' }, {}, false), {
      status: { hard, used: { pods: '3' } },
      unsettled: false,
    });
  });

  it('releases the usage of deleted objects at once, and unused charges after a while without charges', () => {
    assert.deepEqual(plan(told({ pods: '5' }), { pods: '3' }, {}, false), { unsettled: true });
    assert.deepEqual(plan(told({ pods: '5' }), { pods: '3' }, { pods: '1' }, false), {
      status: { hard, used: { pods: '4' } },
      unsettled: true,
    });
    assert.deepEqual(plan(told({ pods: '5' }), { pods: '3' }, { pods: '9' }, false), {
      status: { hard, used: { pods: '3' } },
      unsettled: false,
    });
    assert.deepEqual(plan(told({ pods: '5' }), { pods: '3' }, {}, true), {
      status: { hard, used: { pods: '3' } },
      unsettled: false,
    });
  });

  it('has new limits at once, even while usage is being charged', () => {
    assert.deepEqual(plan(told({ pods: '5' }, { pods: '7' }), { pods: '3' }, {}, false), {
      status: { hard, used: { pods: '5' } },
      unsettled: true,
    });
  });
});

describe('an increase of the usage', () => {
  const table: [before: Written | undefined, after: Written | undefined, risen: boolean][] = [
    [undefined, undefined, false],
    [undefined, { pods: '0' }, false],
    [undefined, { pods: '1' }, true],
    [{ pods: '1' }, undefined, false],
    [{ pods: '1' }, { pods: '1000m' }, false],
    [{ pods: '2', secrets: '1' }, { pods: '1', secrets: '2' }, true],
    [{ pods: '2' }, { pods: '1' }, false],
  ];
  for (const [before, after, risen] of table)
    it(`from ${JSON.stringify(before)} to ${JSON.stringify(after)} is ${risen}`, () =>
      assert.equal(hasRisen(before, after), risen));
});
