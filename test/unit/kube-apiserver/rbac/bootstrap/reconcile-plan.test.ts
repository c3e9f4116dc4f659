/** Changes at the start of a master to an existing role or binding of the system. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  ClusterRole,
  ClusterRoleBinding,
  RoleBinding,
} from '../../../../../src/api/rbac/v1/types.gen.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { metaCauses } from '../../../../../src/apimachinery/validate-meta.ts';
import { policySources } from '../../../../../src/control-plane/server-features.ts';
import { controllers } from '../../../../../src/controllers/index.ts';
import { features } from '../../../../../src/features/index.ts';
import { registry } from '../../../../../src/features/kinds.ts';
import {
  autoUpdate,
  bootstrapPolicy,
  type PolicyKind,
  type PolicyObject,
} from '../../../../../src/kube-apiserver/rbac/bootstrap/policy-objects.ts';
import { planReconciliation } from '../../../../../src/kube-apiserver/rbac/bootstrap/reconcile-plan.ts';

const policy = bootstrapPolicy(policySources());
const all = policy.flat();
const wanted = (kind: string, name: string): PolicyObject['draft'] => {
  const found = all.find(({ draft }) => draft.kind === kind && draft.metadata.name === name);
  assert.ok(found, name);
  return found.draft;
};
const stored = (draft: PolicyObject['draft'], over: object = {}): PolicyKind => {
  const server = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { ...draft, metadata: { ...draft.metadata, ...server }, ...over } as unknown as PolicyKind;
};
const updated = (draft: PolicyObject['draft'], existing: PolicyKind) => {
  const plan = planReconciliation(draft, existing);
  assert.equal(plan.type, 'update');
  return (plan as { object: object }).object as Record<string, unknown> & {
    metadata: KubeObject['metadata'];
  };
};
const extra = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] };

test('objects in their original state are not changed', () => {
  for (const { draft } of all) assert.deepEqual(planReconciliation(draft, stored(draft)), { type: 'none' });
});

test('every object is valid and occurs once', () => {
  const names = new Set<string>();
  for (const { ref, draft } of all) {
    const definition = registry.find(({ kind, group }) => kind === ref.kind && group === ref.group);
    assert.ok(definition);
    const object = structuredClone(stored(draft)) as KubeObject;
    definition.strategy.setDefaults?.(object);
    const causes = [...metaCauses(definition, object), ...(definition.strategy.validate?.(object) ?? [])];
    assert.deepEqual(causes, [], draft.metadata.name);
    assert.deepEqual(object, stored(draft), 'its defaults are written out');
    names.add(`${draft.kind} ${draft.metadata.namespace}/${draft.metadata.name}`);
  }
  assert.equal(names.size, all.length);
});

test('every controller has an account with roles', () => {
  const accounts = new Set(
    [...controllers, ...features.flatMap((feature) => feature.controllers)].map(({ account }) => account),
  );
  const bound = new Set(
    policy.flat().flatMap(({ draft }) => ((draft as RoleBinding).subjects ?? []).map(({ name }) => name)),
  );
  assert.ok(accounts.size > 10);
  assert.deepEqual([...accounts.difference(bound)], []);
});

test('only administrators have all rights', () => {
  const bindings = all.map(({ draft }) => draft as ClusterRoleBinding);
  const holders = bindings.filter(
    ({ kind, roleRef }) => kind === 'ClusterRoleBinding' && roleRef.name === 'cluster-admin',
  );
  assert.deepEqual(
    holders.map(({ subjects }) => subjects?.map(({ kind, name }) => `${kind} ${name}`)),
    [['Group system:masters']],
  );
});

describe('a role', () => {
  const scheduler = wanted('ClusterRole', 'system:kube-scheduler');

  test('gets its missing rules, and keeps added ones', () => {
    const { rules = [] } = scheduler as { rules?: object[] };
    const next = updated(scheduler, stored(scheduler, { rules: [extra, ...rules.slice(1)] }));
    assert.deepEqual((next.rules as object[])[0], extra);
    assert.deepEqual(planReconciliation(scheduler, next as unknown as PolicyKind), { type: 'none' });
  });

  test('with the same rights in other words is not changed', () => {
    const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    assert.deepEqual(planReconciliation(scheduler, stored(scheduler, { rules: [everything] })), {
      type: 'none',
    });
  });

  test('with the annotation of an administrator is not changed', () => {
    const kept = stored(scheduler, { rules: [] });
    kept.metadata.annotations = { [autoUpdate]: 'false' };
    assert.deepEqual(planReconciliation(scheduler, kept), { type: 'none' });
  });

  test('gets the labels and annotations, and keeps its own', () => {
    const bare = stored(scheduler);
    bare.metadata.labels = { team: 'x' };
    bare.metadata.annotations = { note: 'y' };
    const { metadata } = updated(scheduler, bare);
    assert.deepEqual(metadata.labels, { 'kubernetes.io/bootstrapping': 'rbac-defaults', team: 'x' });
    assert.deepEqual(metadata.annotations, { [autoUpdate]: 'true', note: 'y' });
  });

  test('with aggregation keeps its rules, and gets its selector back', () => {
    const edit = wanted('ClusterRole', 'edit');
    assert.deepEqual(planReconciliation(edit, stored(edit, { rules: [extra] })), { type: 'none' });
    const other = { matchLabels: { mine: 'true' } };
    const next = updated(edit, stored(edit, { aggregationRule: { clusterRoleSelectors: [other] } }));
    assert.deepEqual(next.aggregationRule, {
      clusterRoleSelectors: [
        other,
        { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
      ],
    });
  });

  test('with more aggregation than its original keeps that', () => {
    const edit = wanted('ClusterRole', 'edit');
    const { aggregationRule } = edit as ClusterRole;
    const clusterRoleSelectors = [
      { matchLabels: { mine: 'true' } },
      ...(aggregationRule?.clusterRoleSelectors ?? []),
    ];
    assert.deepEqual(planReconciliation(edit, stored(edit, { aggregationRule: { clusterRoleSelectors } })), {
      type: 'none',
    });
    assert.deepEqual(
      updated(edit, stored(edit, { aggregationRule: undefined })).aggregationRule,
      aggregationRule,
    );
  });

  test('without aggregation in its original loses it', () => {
    const summing = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const next = updated(scheduler, stored(scheduler, { aggregationRule: summing }));
    assert.equal(next.aggregationRule, undefined);
  });
});

describe('a binding', () => {
  const draft = wanted('ClusterRoleBinding', 'system:public-info-viewer');
  const other = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' };

  test('gets the missing subjects, and keeps the existing ones', () => {
    const { subjects } = updated(draft, stored(draft, { subjects: [other] }));
    assert.deepEqual(
      (subjects as { name: string }[]).map(({ name }) => name),
      ['ann', 'system:authenticated', 'system:unauthenticated'],
    );
  });

  test('without subjects keeps none', () => {
    const nodes = wanted('ClusterRoleBinding', 'system:node');
    assert.deepEqual(planReconciliation(nodes, stored(nodes, { subjects: undefined })), { type: 'none' });
  });

  test('of another role is replaced, unless an administrator keeps it', () => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const wrong = stored(draft, { roleRef });
    assert.deepEqual(planReconciliation(draft, wrong), { type: 'replace', uid: 'u' });
    wrong.metadata.annotations = { [autoUpdate]: 'false' };
    assert.deepEqual(planReconciliation(draft, wrong), { type: 'none' });
  });
});
