/** Messages of a quota's rejection, and the charged usage otherwise. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ResourceQuota } from '../../../../src/api/core/v1/resource-quota.ts';
import { evaluatorOf } from '../../../../src/api/quota/evaluators.ts';
import { writeAmounts } from '../../../../src/apimachinery/amounts.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  decide,
  type LimitedResource,
  type QuotaWrite,
  useOf,
} from '../../../../src/kube-apiserver/admission/quota-checks.ts';

type Written = Readonly<Record<string, string>>;

const quotaOf = (name: string, hard: Written, used?: Written, spec: object = {}) =>
  ({ metadata: { name }, spec, status: { hard, ...(used && { used }) } }) as unknown as ResourceQuota;

const write = (plural: string, object: object, over: Partial<QuotaWrite> = {}): QuotaWrite => ({
  evaluator: evaluatorOf({ group: '', plural }) as QuotaWrite['evaluator'],
  ...{ group: '', plural, old: undefined, now: 0, limited: [] },
  object: { metadata: {}, ...object } as unknown as KubeObject,
  ...over,
});
const container = (requests: object = {}, limits: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
});
const podSpec = (requests: object = {}, over: object = {}) => ({
  spec: { containers: [container(requests)], ...over },
});
const pod = (requests: object = {}, over: Partial<QuotaWrite> = {}) => write('pods', podSpec(requests), over);
const claim = (storage: string) => ({ spec: { resources: { requests: { storage } } } });

/** Returns the reason of the rejection, or the usage of each quota afterwards. */
function outcome(quotas: readonly ResourceQuota[], asked: QuotaWrite) {
  const decision = decide(quotas.map(useOf), asked);
  return decision.type === 'refused' ? decision.why : decision.uses.map(({ used }) => writeAmounts(used));
}

describe('a write that fits', () => {
  it('is charged to exactly the quotas that count it', () => {
    const quotas = [
      quotaOf('a', { pods: '2', 'requests.cpu': '2' }, { pods: '1', 'requests.cpu': '500m' }),
      quotaOf('b', { services: '1' }, { services: '1' }),
      quotaOf('c', { 'count/pods': '9' }, { 'count/pods': '3' }),
    ];
    assert.deepEqual(outcome(quotas, pod({ cpu: '1500m' })), [
      { pods: '2', 'requests.cpu': '2' },
      { services: '1' },
      { 'count/pods': '4' },
    ]);
  });

  it('skips a quota whose scopes exclude it', () => {
    const best = quotaOf('a', { pods: '1' }, { pods: '1' }, { scopes: ['BestEffort'] });
    const ofClass = quotaOf(
      'b',
      { pods: '5' },
      { pods: '1' },
      {
        scopes: ['NotBestEffort'],
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
        },
      },
    );
    assert.deepEqual(outcome([best, ofClass], pod({ cpu: '1' })), [{ pods: '1' }, { pods: '1' }]);
    const high = write('pods', podSpec({ cpu: '1' }, { priorityClassName: 'high' }));
    assert.deepEqual(outcome([best, ofClass], high), [{ pods: '1' }, { pods: '2' }]);
  });

  it('charges an increase over the replaced object, and refunds no decrease', () => {
    const quotas = [quotaOf('a', { 'requests.storage': '9Gi' }, { 'requests.storage': '5Gi' })];
    const old = { metadata: {}, ...claim('2Gi') } as unknown as KubeObject;
    const after = (storage: string) =>
      outcome(quotas, write('persistentvolumeclaims', claim(storage), { old }));
    assert.deepEqual(after('3Gi'), [{ 'requests.storage': '6Gi' }]);
    assert.deepEqual(after('1Gi'), [{ 'requests.storage': '5Gi' }]);
  });

  it('may not use an exhausted resource', () => {
    const full = quotaOf(
      'a',
      { pods: '9', 'requests.nvidia.com/gpu': '1' },
      { pods: '1', 'requests.nvidia.com/gpu': '1' },
    );
    assert.deepEqual(outcome([full], pod()), [{ pods: '2', 'requests.nvidia.com/gpu': '1' }]);
    const over = quotaOf(
      'a',
      { services: '3', 'services.nodeports': '1' },
      { services: '1', 'services.nodeports': '2' },
    );
    const service = write('services', { spec: { type: 'ClusterIP', ports: [{ port: 1 }] } });
    assert.deepEqual(outcome([over], service), [{ services: '2', 'services.nodeports': '2' }]);
  });

  it('is not charged to a quota whose limits are unknown yet', () => {
    const unread = { metadata: { name: 'a' }, spec: { hard: { pods: '0' } } } as unknown as ResourceQuota;
    assert.deepEqual(outcome([unread], pod()), [{}]);
  });
});

describe('a quota rejects', () => {
  it('an excessive write, with exactly the exceeded resources', () => {
    const quota = quotaOf(
      'compute',
      { pods: '2', 'requests.cpu': '1', memory: '1Gi' },
      { pods: '1', 'requests.cpu': '900m', memory: '1Gi' },
    );
    assert.equal(
      outcome([quota], pod({ cpu: '200m', memory: '1Mi' })),
      'exceeded quota: compute, requested: memory=1Mi,requests.cpu=200m, used: memory=1Gi,requests.cpu=900m, limited: memory=1Gi,requests.cpu=1',
    );
  });

  it('a write above the second quota, which takes nothing from the first', () => {
    const quotas = [quotaOf('a', { pods: '9' }, { pods: '1' }), quotaOf('b', { pods: '1' }, { pods: '1' })];
    assert.equal(
      outcome(quotas, pod()),
      'exceeded quota: b, requested: pods=1, used: pods=1, limited: pods=1',
    );
  });

  it('a growth that exceeds the rest', () => {
    const quota = quotaOf('a', { 'requests.storage': '3Gi' }, { 'requests.storage': '2Gi' });
    const old = { metadata: {}, ...claim('2Gi') } as unknown as KubeObject;
    assert.equal(
      outcome([quota], write('persistentvolumeclaims', claim('4Gi'), { old })),
      'exceeded quota: a, requested: requests.storage=2Gi, used: requests.storage=2Gi, limited: requests.storage=3Gi',
    );
  });

  it('a pod that does not set a limited resource', () => {
    const quota = quotaOf('a', { 'limits.cpu': '1', pods: '1' }, { 'limits.cpu': '0', pods: '1' });
    assert.equal(outcome([quota], pod()), 'failed quota: a: must specify limits.cpu for: c');
  });

  it('a write of a resource whose usage is unknown', () => {
    const quota = quotaOf('a', { pods: '1', 'count/pods': '1', services: '1' }, { pods: '0' });
    assert.equal(outcome([quota], pod()), 'status unknown for quota: a, resources: count/pods,pods');
    assert.equal(
      outcome([quotaOf('a', { pods: '1' })], pod()),
      'status unknown for quota: a, resources: pods',
    );
  });

  it('a write with a negative amount', () => {
    const quota = quotaOf('a', { 'requests.storage': '1' }, { 'requests.storage': '0' });
    assert.equal(
      outcome([quota], write('persistentvolumeclaims', claim('-1'))),
      'quota usage is negative for resource(s): requests.storage',
    );
  });
});

describe('resources for which the server requires a quota', () => {
  const rule = (over: Partial<LimitedResource>): LimitedResource => ({
    ...{ apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [] },
    ...over,
  });

  it('need one if they are used', () => {
    const limited = [rule({ matchContains: ['cpu', 'memory'] })];
    const quota = quotaOf('a', { 'requests.cpu': '9', cpu: '9' }, { 'requests.cpu': '0', cpu: '0' });
    const refusal = 'insufficient quota to consume:';
    assert.equal(outcome([], pod({ cpu: '1' }, { limited })), `${refusal} cpu,requests.cpu`);
    assert.equal(
      outcome([quota], pod({ cpu: '1', memory: '1' }, { limited })),
      `${refusal} memory,requests.memory`,
    );
    assert.deepEqual(outcome([quota], pod({ cpu: '1' }, { limited })), [{ 'requests.cpu': '1', cpu: '1' }]);
    assert.deepEqual(outcome([], pod({}, { limited })), []);
    assert.deepEqual(outcome([], write('services', { spec: {} }, { limited })), []);
    const elsewhere = [rule({ apiGroup: 'example.com', matchContains: ['cpu'] })];
    assert.deepEqual(outcome([], pod({ cpu: '1' }, { limited: elsewhere })), []);
  });

  it('need none if they are not used, or not used more than before', () => {
    const limited = ['services', 'persistentvolumeclaims'].map((resource) =>
      rule({ resource, matchContains: ['nodeports', 'storage'] }),
    );
    assert.deepEqual(outcome([], write('services', { spec: { type: 'ClusterIP' } }, { limited })), []);
    const old = { metadata: {}, ...claim('2Gi') } as unknown as KubeObject;
    assert.deepEqual(outcome([], write('persistentvolumeclaims', claim('1Gi'), { limited, old })), []);
    assert.match(
      String(outcome([], write('persistentvolumeclaims', claim('3Gi'), { limited, old }))),
      /insufficient quota to consume: requests\.storage$/,
    );
  });

  it('list all scopes without a quota', () => {
    const scopes = ['BestEffort', 'NotTerminating'].map((scopeName) => ({ scopeName, operator: 'Exists' }));
    assert.equal(
      outcome([], pod({}, { limited: [rule({ matchScopes: scopes })] })),
      'insufficient quota to match these scopes: [{BestEffort Exists []} {NotTerminating Exists []}]',
    );
  });

  it('a pod of a scope needs one with that scope', () => {
    const scope = { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'higher'] };
    const limited = [rule({ matchScopes: [scope] })];
    const high = write('pods', podSpec({}, { priorityClassName: 'high' }), { limited });
    const plain = quotaOf('a', { pods: '9' }, { pods: '0' });
    assert.equal(
      outcome([plain], high),
      'insufficient quota to match these scopes: [{PriorityClass In [high higher]}]',
    );
    assert.deepEqual(outcome([plain], pod({}, { limited })), [{ pods: '1' }]);
    const spec = { scopeSelector: { matchExpressions: [{ ...scope, values: ['high'] }] } };
    assert.deepEqual(outcome([quotaOf('b', { pods: '9' }, { pods: '0' }, spec)], high), [{ pods: '1' }]);
    const other = { scopeSelector: { matchExpressions: [{ ...scope, values: ['low'] }] } };
    assert.match(
      String(outcome([quotaOf('b', { pods: '9' }, { pods: '0' }, other)], high)),
      /insufficient quota/,
    );
  });
});
