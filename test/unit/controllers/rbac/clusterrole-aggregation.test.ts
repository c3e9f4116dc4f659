/** Aggregated rules of ClusterRoles, and their write. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterRoleResource } from '../../../../src/api/rbac/v1/cluster-role.ts';
import type { ClusterRole, PolicyRule } from '../../../../src/api/rbac/v1/types.gen.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { clusterRoleAggregation } from '../../../../src/controllers/rbac/clusterrole-aggregation.ts';
import { planAggregation } from '../../../../src/controllers/rbac/clusterrole-aggregation-plan.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const on = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const role = (name: string, labels: Record<string, string>, ...rules: PolicyRule[]): ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels,
  },
  rules,
});
const sum = (name: string, matchLabels: Record<string, string>[], ...rules: PolicyRule[]): ClusterRole => ({
  ...role(name, {}, ...rules),
  aggregationRule: { clusterRoleSelectors: matchLabels.map((labels) => ({ matchLabels: labels })) },
});
const x = { x: 'true' };

describe('the aggregated rules of a ClusterRole', () => {
  const b = role('b', x, on('pods'), on('secrets'));
  const a = role('a', x, on('nodes'), on('pods'));

  test('contain the rules of the selected roles, sorted by role name and without duplicates', () => {
    const total = sum('total', [x]);
    assert.deepEqual(planAggregation(total, [b, total, role('c', {}, on('jobs')), a]), [
      on('nodes'),
      on('pods'),
      on('secrets'),
    ]);
  });

  test('follow the order of the selectors, and do not contain the rules of the role itself', () => {
    const own = {
      ...sum('own', [{ y: 'true' }, x], on('old')),
      metadata: { ...a.metadata, name: 'own', labels: x },
    };
    const y = role('z', { y: 'true' }, on('jobs'));
    assert.deepEqual(planAggregation(own, [a, y, own]), [on('jobs'), on('nodes'), on('pods')]);
  });

  test('are not written if they are current or if there is no aggregation rule', () => {
    assert.equal(planAggregation(sum('total', [x], on('nodes'), on('pods')), [a]), undefined);
    assert.equal(planAggregation(sum('total', [x]), []), undefined);
    const { rules: _, ...without } = sum('total', [x]);
    assert.equal(planAggregation(without, []), undefined);
    assert.equal(planAggregation(a, [a, b]), undefined);
  });

  test('lose rules that are no longer selected', () => {
    assert.deepEqual(planAggregation(sum('total', [x], on('nodes')), []), []);
  });

  test('contain the rules of all ClusterRoles for an empty selector, and none without selectors', () => {
    const all: ClusterRole = { ...sum('total', []), aggregationRule: { clusterRoleSelectors: [{}] } };
    assert.deepEqual(planAggregation(all, [role('c', {}, on('jobs'))]), [on('jobs')]);
    const none: ClusterRole = { ...sum('total', [], on('pods')), aggregationRule: {} };
    assert.deepEqual(planAggregation(none, [a]), []);
  });

  test('contain rules that differ in any single word', () => {
    const near: PolicyRule[] = [
      on('pods'),
      { ...on('pods'), verbs: ['list'] },
      { ...on('pods'), apiGroups: ['x'] },
      { ...on('pods'), resourceNames: ['a'] },
      { verbs: ['get'], nonResourceURLs: ['/a'] },
      { verbs: ['get'], nonResourceURLs: ['/b'] },
    ];
    const { rules: _, ...empty } = role('z', x);
    assert.deepEqual(planAggregation(sum('total', [x]), [role('a', x, ...near), empty]), near);
  });

  test('are the same for an empty list and an absent one', () => {
    const same = { ...on('pods'), resourceNames: [], nonResourceURLs: [] };
    assert.deepEqual(planAggregation(sum('total', [x]), [role('a', x, on('pods')), role('b', x, same)]), [
      on('pods'),
    ]);
  });
});

describe('the controller', () => {
  test('writes all outdated rules, and checks all roles after any change', async () => {
    const world = new ScriptedWorld(clusterRoleAggregation);
    world.put(clusterRoleResource, role('a', x, on('pods')));
    world.put(clusterRoleResource, sum('one', [x]));
    world.put(clusterRoleResource, sum('two', [x], on('pods')));
    assert.deepEqual(world.keysOf(clusterRoleResource, role('other', {})), ['all']);
    await world.reconcile('all');
    assert.deepEqual(world.stored(clusterRoleResource, 'one')?.rules, [on('pods')]);
    assert.deepEqual(world.asked, ['patch ClusterRole one']);
  });

  test('continues after a failed write, and reports the failure', async () => {
    const world = new ScriptedWorld(clusterRoleAggregation);
    world.put(clusterRoleResource, role('a', x, on('pods')));
    for (const name of ['one', 'two']) world.put(clusterRoleResource, sum(name, [x]));
    world.refuse = (_, name) => (name === 'one' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('all'), /no/);
    assert.deepEqual(world.stored(clusterRoleResource, 'two')?.rules, [on('pods')]);
  });

  test('leaves a role that has changed in the meantime to the event of that change', async () => {
    const world = new ScriptedWorld(clusterRoleAggregation);
    world.put(clusterRoleResource, role('a', x, on('pods')));
    world.put(clusterRoleResource, sum('one', [x]));
    const changed = sum('one', [x], on('jobs'));
    world.store(clusterRoleResource, { ...changed, metadata: { ...changed.metadata, resourceVersion: '2' } });
    await world.reconcile('all');
    assert.deepEqual(world.stored(clusterRoleResource, 'one')?.rules, [on('jobs')]);
  });
});
