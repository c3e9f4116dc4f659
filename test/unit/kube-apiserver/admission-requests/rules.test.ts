import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuleWithOperations } from '../../../../src/api/admissionregistration/v1/types.gen.ts';
import type { Webhook } from '../../../../src/api/admissionregistration/v1/webhook-validation.ts';
import type {
  Address,
  HookedRequest,
} from '../../../../src/kube-apiserver/admission-requests/plan/request.ts';
import { isExempt } from '../../../../src/kube-apiserver/admission-requests/plan/rules.ts';
import { hooksOf } from '../../../../src/kube-apiserver/webhooks/plan/hook.ts';
import {
  asksForNamespace,
  invocationOf,
  selectsNamespace,
} from '../../../../src/kube-apiserver/webhooks/plan/invocation.ts';

const address = (group: string, version: string, resource: string, kind: string): Address => ({
  group,
  version,
  resource,
  kind: { group, version, kind },
});
const pods = address('', 'v1', 'pods', 'Pod');
const request: HookedRequest = {
  operation: 'CREATE',
  address: pods,
  subresource: '',
  equivalents: [],
  name: 'web',
  namespace: 'default',
  user: { name: 'admin', groups: [] },
  dryRun: false,
  labels: { app: 'web' },
  oldLabels: undefined,
};
const rule: RuleWithOperations = {
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['pods'],
  scope: '*',
};
const webhook: Webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://localhost/' },
  rules: [rule],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
};
const hookOf = (more: Partial<Webhook> = {}) => ({
  id: 'guard/a.example.com',
  name: 'a.example.com',
  webhook: { ...webhook, ...more } as Webhook,
});
const isCalled = (of: Partial<RuleWithOperations>, changed: Partial<HookedRequest> = {}) =>
  invocationOf(hookOf({ rules: [{ ...rule, ...of }] }), { ...request, ...changed }) !== undefined;

describe('the rules of a webhook', () => {
  const namespaces = address('', 'v1', 'namespaces', 'Namespace');
  const nodes = address('', 'v1', 'nodes', 'Node');
  const cases: readonly [string, Partial<RuleWithOperations>, Partial<HookedRequest>, boolean][] = [
    ['match the request', {}, {}, true],
    ['do not match another operation', {}, { operation: 'DELETE' }, false],
    ['match every operation', { operations: ['*'] }, { operation: 'CONNECT' }, true],
    ['do not match another group', { apiGroups: ['apps'] }, {}, false],
    ['match every group', { apiGroups: ['*'] }, {}, true],
    ['do not match another version', { apiVersions: ['v2'] }, {}, false],
    ['match every version', { apiVersions: ['*'] }, {}, true],
    ['do not match a subresource without its name', {}, { subresource: 'status' }, false],
    ['match every resource, and no subresource', { resources: ['*'] }, { subresource: 'exec' }, false],
    ['match one subresource', { resources: ['pods/exec'] }, { subresource: 'exec' }, true],
    ['match the subresources of one resource', { resources: ['pods/*'] }, { subresource: 'exec' }, true],
    ['match one subresource of all resources', { resources: ['*/exec'] }, { subresource: 'exec' }, true],
    ['match the resource itself by */*', { resources: ['*/*'] }, {}, true],
    ['match a scope', { scope: 'Namespaced' }, {}, true],
    ['do not match another scope', { scope: 'Cluster' }, {}, false],
    [
      'match a Namespace as a cluster-scoped object',
      { scope: 'Namespaced', resources: ['*'] },
      { address: namespaces, namespace: 'web' },
      false,
    ],
    [
      'match a cluster-scoped object',
      { scope: 'Cluster', resources: ['*'] },
      { address: nodes, namespace: '' },
      true,
    ],
  ];
  for (const [title, of, changed, expected] of cases)
    it(title, () => assert.equal(isCalled(of, changed), expected));

  it('match an equivalent resource; the objects are sent in the version of the rule', () => {
    const events = address('', 'v1', 'events', 'Event');
    const others = address('events.k8s.io', 'v1', 'events', 'Event');
    const changed = { ...request, address: others, equivalents: [events] };
    const rules = [{ ...rule, resources: ['events'] }];
    assert.equal(invocationOf(hookOf({ rules }), changed)?.address, events);
    assert.equal(invocationOf(hookOf({ rules, matchPolicy: 'Exact' }), changed), undefined);
  });
});

describe('the selectors of a webhook', () => {
  const objectSelector = { matchLabels: { app: 'web' } };
  const calls = (labels: HookedRequest['labels'], oldLabels: HookedRequest['oldLabels']) =>
    invocationOf(hookOf({ objectSelector }), { ...request, labels, oldLabels }) !== undefined;

  it('select the object in its old or its new state', () => {
    assert.equal(calls({ app: 'web' }, undefined), true);
    assert.equal(calls({}, { app: 'web' }), true);
    assert.equal(calls({}, {}), false);
    assert.equal(calls(undefined, undefined), false);
  });

  it('query the labels of the namespace if the request has one', () => {
    const hook = hookOf({ namespaceSelector: { matchLabels: { a: 'b' } } });
    assert.equal(asksForNamespace(hook, request), true);
    assert.equal(asksForNamespace(hook, { ...request, namespace: '' }), false);
    assert.equal(asksForNamespace(hookOf(), request), false);
    assert.equal(selectsNamespace(hook, { a: 'b' }), true);
    assert.equal(selectsNamespace(hook, undefined), false);
  });
});

describe('webhooks', () => {
  it('are called in the order of the names of their configurations', () => {
    const configuration = (name: string, ...names: string[]) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' },
      webhooks: names.map((of) => ({ ...webhook, name: of })),
    });
    const found = hooksOf([configuration('b', 'z.x.y', 'a.x.y'), configuration('a', 'm.x.y')]);
    assert.deepEqual(
      found.map(({ id }) => id),
      ['a/m.x.y', 'b/z.x.y', 'b/a.x.y'],
    );
  });

  it('never see their own configurations', () => {
    const of = (group: string, kind: string) => ({ address: address(group, 'v1', 'x', kind) });
    assert.equal(isExempt(of('admissionregistration.k8s.io', 'ValidatingWebhookConfiguration')), true);
    assert.equal(isExempt(of('admissionregistration.k8s.io', 'MutatingWebhookConfiguration')), true);
    assert.equal(isExempt(of('example.com', 'ValidatingWebhookConfiguration')), false);
  });
});
