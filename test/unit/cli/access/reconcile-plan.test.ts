/** Changes of `auth reconcile`; compared with kubectl in test/integration/cli/access.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { planBinding, planRole } from '../../../../src/cli/access/reconcile-plan.ts';

const rule = (verbs: string, ...resources: string[]) => ({
  apiGroups: [''],
  resources,
  verbs: verbs.split(' '),
});
const role = (...rules: object[]): JsonObject => ({ metadata: { name: 'r' }, rules });
const user = (name: string) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' });
const binding = (...subjects: object[]): JsonObject => ({
  metadata: { name: 'b' },
  roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
  subjects,
});
const keep = { removeExtraPermissions: false, removeExtraSubjects: false };
const remove = { removeExtraPermissions: true, removeExtraSubjects: true };

describe('a role', () => {
  it('that does not exist is created from the manifest', () => {
    const wanted = role(rule('get', 'pods'));
    const { operation, object, missingRules } = planRole(wanted, undefined, keep);
    assert.deepEqual([operation, object, missingRules], ['create', wanted, [rule('get', 'pods')]]);
  });

  it('gets missing rules and keeps extra ones', () => {
    const plan = planRole(role(rule('get list', 'pods')), role(rule('get', 'pods', 'secrets')), keep);
    assert.equal(plan.operation, 'update');
    assert.deepEqual(plan.object.rules, [rule('get', 'pods', 'secrets'), rule('list', 'pods')]);
    assert.deepEqual(
      [plan.missingRules, plan.extraRules],
      [[rule('list', 'pods')], [rule('get', 'secrets')]],
    );
  });

  it('that grants the same with other rules is unchanged, also when extra permissions are removed', () => {
    const existing = role(rule('get', 'pods'), rule('get', 'secrets'));
    for (const options of [keep, remove])
      assert.equal(planRole(role(rule('get', 'secrets', 'pods')), existing, options).operation, 'none');
  });

  it('has exactly the rules of the manifest when extra permissions are removed', () => {
    const plan = planRole(role(rule('get', 'pods')), role(rule('get', 'pods', 'secrets')), remove);
    assert.deepEqual([plan.operation, plan.object.rules], ['update', [rule('get', 'pods')]]);
  });

  it('gets missing labels and annotations', () => {
    const labelled = (labels: object): JsonObject => ({ ...role(), metadata: { name: 'r', labels } });
    const plan = planRole(labelled({ a: '1', b: '2' }), labelled({ a: '9' }), keep);
    assert.deepEqual(plan.object.metadata, { name: 'r', labels: { a: '9', b: '2' } });
    assert.equal(planRole(labelled({ a: '1' }), labelled({ a: '9' }), keep).operation, 'none');
  });

  it('that opted out is reported as protected', () => {
    const metadata = { name: 'r', annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } };
    assert.equal(planRole(role(rule('get', 'pods')), { ...role(), metadata }, keep).protected, true);
    assert.equal(planRole(role(rule('get', 'pods')), role(), keep).protected, false);
  });

  describe('with an aggregation rule', () => {
    const selector = (label: string) => ({ matchLabels: { label } });
    const sum = (labels: string[], over: object = {}): JsonObject => ({
      ...role(),
      aggregationRule: { clusterRoleSelectors: labels.map(selector) },
      ...over,
    });
    const filled = { rules: [rule('get', 'pods')] };
    const labelsOf = ({ object }: { object: JsonObject }) => object.aggregationRule;

    it('gets missing selectors', () => {
      const plan = planRole(sum(['a', 'b']), sum(['b', 'c'], filled), keep);
      assert.deepEqual([plan.operation, plan.object], ['update', sum(['b', 'c', 'a'], filled)]);
    });

    it('has exactly the selectors of the manifest when extra permissions are removed; aggregated rules are not extra', () => {
      const plan = planRole(sum(['a']), sum(['a', 'c'], filled), remove);
      assert.deepEqual([labelsOf(plan), plan.extraRules], [sum(['a']).aggregationRule, []]);
      assert.deepEqual(plan.object.rules, filled.rules);
      assert.equal(planRole(sum(['a', 'c']), sum(['c', 'a'], filled), remove).operation, 'none');
    });

    it('gets or loses its aggregation rule by the manifest', () => {
      assert.deepEqual(labelsOf(planRole(sum(['a']), role(), keep)), sum(['a']).aggregationRule);
      const plan = planRole(role(rule('get', 'pods')), sum(['a'], filled), keep);
      assert.deepEqual([plan.operation, plan.object], ['update', role(rule('get', 'pods'))]);
    });
  });

  it('keeps the resource names and paths of a rule', () => {
    const named = { ...rule('get', 'pods'), resourceNames: ['a'] };
    const paths = { verbs: ['get'], nonResourceURLs: ['/a'] };
    const plan = planRole(role(named, paths), role(), keep);
    assert.deepEqual([plan.missingRules, plan.protected], [[named, paths], false]);
  });

  it('with more permissions than can be compared is rejected', () => {
    const words = (prefix: string) => Array.from({ length: 1_200 }, (_, index) => `${prefix}${index}`);
    const huge = role({ apiGroups: [''], resources: words('r'), verbs: words('v') });
    assert.throws(() => planRole(huge, role(), keep), /too many permissions/);
  });
});

describe('a binding', () => {
  it('gets missing subjects, each once', () => {
    const plan = planBinding(binding(user('a'), user('b'), user('b')), binding(user('a'), user('z')), keep);
    assert.deepEqual(plan.object.subjects, [user('a'), user('z'), user('b')]);
    assert.deepEqual([plan.missingSubjects.length, plan.extraSubjects.length], [1, 1]);
  });

  it('defaults a missing apiGroup as the server does', () => {
    const unnamed: JsonObject = {
      ...binding({ kind: 'User', name: 'a' }, { kind: 'ServiceAccount', name: 's', namespace: 'n' }),
      roleRef: { kind: 'Role', name: 'r' },
    };
    const stored = binding(user('a'), { kind: 'ServiceAccount', name: 's', namespace: 'n' });
    assert.equal(planBinding(unnamed, stored, remove).operation, 'none');
  });

  it('that does not exist is created from the manifest', () => {
    const wanted = binding(user('a'));
    const { operation, object, missingSubjects, protected: out } = planBinding(wanted, undefined, keep);
    const missing = [{ ...user('a'), namespace: '' }];
    assert.deepEqual([operation, object, missingSubjects, out], ['create', wanted, missing, false]);
  });

  it('distinguishes subjects by kind, group and namespace', () => {
    const account = (namespace: string) => ({ kind: 'ServiceAccount', name: 's', namespace });
    const group = { kind: 'Group', name: 's' };
    const existing = binding(account('a'), { ...user('s'), kind: 'Group' });
    assert.equal(planBinding(binding(account('a'), group), existing, remove).operation, 'none');
    const plan = planBinding(binding(account('b'), { ...group, apiGroup: 'other' }), existing, keep);
    assert.deepEqual(plan.object.subjects, [
      ...[account('a'), { ...user('s'), kind: 'Group' }],
      ...[account('b'), { ...group, apiGroup: 'other' }],
    ]);
  });

  it('with a role of another group is recreated', () => {
    const other = { ...binding(), roleRef: { kind: 'Role', name: 'r', apiGroup: 'other' } };
    assert.equal(planBinding(other, binding(), keep).operation, 'recreate');
    const renamed = { ...binding(), roleRef: { kind: 'Role', name: 'x' } };
    assert.equal(planBinding(renamed, binding(), keep).operation, 'recreate');
  });

  it('with another role is recreated', () => {
    const other = { ...binding(user('a')), roleRef: { kind: 'ClusterRole', name: 'r' } };
    const plan = planBinding(other, binding(user('a')), keep);
    assert.deepEqual([plan.operation, plan.object], ['recreate', other]);
  });

  it('has exactly the subjects of the manifest when extra subjects are removed', () => {
    const plan = planBinding(binding(user('b')), binding(user('a'), user('b')), remove);
    assert.deepEqual([plan.operation, plan.object.subjects], ['update', [user('b')]]);
  });
});
