import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceQuotaResource } from '../../../../../src/api/core/v1/resource-quota.ts';
import { cells, created, merge, testCreate, testStatus, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, spec } from '../../../../fixtures/workloads.ts';

const quota = { ...head('v1', 'ResourceQuota'), spec: { hard: { pods: '10', 'requests.cpu': '4' } } };
const hard = (amounts: object) => spec({ hard: amounts });
const matching = (...matchExpressions: object[]) => spec({ scopeSelector: { matchExpressions } });
const at = 'spec.scopeSelector.matchExpressions';

testCreate(resourceQuotaResource, quota, [
  ['nothing', { spec: null }],
  [
    'every countable resource',
    hard({
      services: '1',
      'services.nodeports': '0',
      'limits.memory': '1Gi',
      'requests.storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'count/deployments.apps': '2',
      'requests.nvidia.com/gpu': '4',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    }),
  ],
  [
    'resources that no quota counts',
    hard({ nodes: '1', storage: '1Gi', 'a b': '1' }),
    'spec.hard[nodes]: Invalid value: "nodes": must be a standard resource type or fully qualified',
    'spec.hard[nodes]: Invalid value: "nodes": must be a standard resource for quota',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    'spec.hard[a b]: Invalid value: "a b": name part',
    'spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota',
  ],
  [
    'negative amounts and fractions of objects',
    hard({ pods: '500m', cpu: '-1', 'example.com/gpu': '1500m', 'requests.cpu': '500m' }),
    'spec.hard[pods]: Invalid value: "500m": must be an integer',
    'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.hard[example.com/gpu]: Invalid value: "1500m": must be an integer',
  ],
  ['a scope', spec({ scopes: ['Terminating', 'NotBestEffort'] })],
  [
    'an unknown scope',
    spec({ scopes: ['Other'] }),
    'spec.scopes: Invalid value: ["Other"]: unsupported scope',
  ],
  [
    'a scope that does not apply to the resources',
    spec({ hard: { services: '1', 'count/x': '1' }, scopes: ['BestEffort', 'Terminating'] }),
    'spec.scopes: Invalid value: ["BestEffort","Terminating"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","Terminating"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","Terminating"]: unsupported scope applied to resource',
  ],
  [
    'contradictory scopes',
    spec({ hard: null, scopes: ['BestEffort', 'NotBestEffort', 'NotTerminating', 'Terminating'] }),
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","NotTerminating","Terminating"]: conflicting scopes',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","NotTerminating","Terminating"]: conflicting scopes',
  ],
  ['a selector', matching({ scopeName: 'PriorityClass', operator: 'In', values: ['high'] })],
  [
    'a selector without values',
    matching({ scopeName: 'PriorityClass', operator: 'NotIn' }),
    `${at}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
  ],
  [
    'a selector with values for an operator without values',
    matching({ scopeName: 'PriorityClass', operator: 'Exists', values: ['high'] }),
    `${at}.values: Invalid value: ["high"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
  ],
  [
    'a selector that negates a scope that only exists',
    matching({ scopeName: 'Terminating', operator: 'DoesNotExist' }),
    `${at}.operator: Invalid value: "DoesNotExist": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`,
  ],
  [
    'a selector that does not apply to the resources',
    merge(hard({ services: '1' }), matching({ scopeName: 'PriorityClass', operator: 'Exists' })),
    `${at}: Invalid value: {"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"}]}: unsupported scope applied to resource`,
  ],
  [
    'a selector of no pods',
    matching(
      { scopeName: 'Terminating', operator: 'Exists' },
      { scopeName: 'NotTerminating', operator: 'Exists' },
    ),
    `${at}: Invalid value: []: conflicting scopes`,
  ],
  [
    'an unknown scope and operator',
    matching({ scopeName: 'Other', operator: 'Is' }),
    `${at}[0].operator: Unsupported value: "Is"`,
    `${at}[0].scopeName: Unsupported value: "Other"`,
  ],
]);

testUpdate(
  resourceQuotaResource,
  merge(quota, spec({ scopes: ['Terminating', 'NotBestEffort'] })) as typeof quota,
  [
    [
      'changed amounts, and scopes in another order',
      spec({ hard: { pods: '20' }, scopes: ['NotBestEffort', 'Terminating'] }),
    ],
    [
      'the scopes',
      spec({ scopes: ['Terminating'] }),
      'spec.scopes: Invalid value: ["Terminating"]: field is immutable',
    ],
  ],
);

testStatus(resourceQuotaResource, quota, [
  ['a status as its controller writes it', undefined, { hard: { pods: '10' }, used: { pods: '3' } }],
  [
    'a resource that no quota counts, and fractions of objects',
    undefined,
    { hard: { storage: '1' }, used: { pods: '1500m' } },
    'status.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    'status.used[pods]: Invalid value: "1500m": must be an integer',
  ],
]);

test('an amount is rounded up to a thousandth', () => {
  assert.deepEqual(created(resourceQuotaResource, merge(quota, hard({ cpu: '100u' }))).spec.hard, {
    pods: '10',
    'requests.cpu': '4',
    cpu: '1m',
  });
});

test('the columns of a quota', () => {
  const made = created(resourceQuotaResource, quota);
  const { Request, Limit } = cells(resourceQuotaResource, made, 0);
  assert.deepEqual([Request, Limit], ['', '']);
  made.status = {
    hard: { pods: '10', 'limits.cpu': '4', 'count/a': '1', 'limits.memory': '1Gi' },
    used: { pods: '3', 'limits.cpu': '500m' },
  };
  assert.deepEqual(cells(resourceQuotaResource, made, 0), {
    Name: 'web',
    Age: '<unknown>',
    Request: 'count/a: 0/1, pods: 3/10',
    Limit: 'limits.cpu: 500m/4, limits.memory: 0/1Gi',
  });
});

test('many invalid scopes and amounts give a limited number of causes', () => {
  const amounts = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`hugepages-${i}Mi`, '1']));
  const scopes = Array.from({ length: 300 }, () => 'BestEffort' as const);
  const matchExpressions = scopes.map((scopeName) => ({ scopeName, operator: 'Exists' as const }));
  const given = created(resourceQuotaResource, merge(quota, spec({ hard: amounts })));
  given.spec = { ...given.spec, scopes, scopeSelector: { matchExpressions } };
  const found = resourceQuotaResource.strategy.validate?.(given) ?? [];
  assert.ok(found.length > 100 && found.length < 300, `${found.length} causes`);
});
