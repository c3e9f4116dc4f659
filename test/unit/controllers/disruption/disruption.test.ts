/** Controllers of disruption: the changes after which they reconcile, and their writes. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../../src/api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../../../../src/api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { replicationControllerResource } from '../../../../src/api/core/v1/replication-controller.ts';
import {
  type PodDisruptionBudget,
  podDisruptionBudgetResource,
} from '../../../../src/api/policy/v1/pod-disruption-budget.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ControllerDefinition } from '../../../../src/controller-runtime/definition.ts';
import { disruptionController } from '../../../../src/controllers/disruption/disruption.ts';
import {
  staleAfterMs,
  staleDisruptionController,
  staleIn,
} from '../../../../src/controllers/disruption/stale-disruption.ts';
import { at, deployment, meta, ownedBy, pod, replicaSet, start } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const budget = (spec: PodDisruptionBudget['spec']): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: meta('pdb', { generation: 1 }),
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
});
const keysFor = ({ watches }: ControllerDefinition, plural: string, object: KubeObject) =>
  watches.filter(({ resource }) => resource.plural === plural).flatMap(({ keys }) => keys(object));

describe('the disruption controller', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(disruptionController);
  });
  const status = () => world.stored(podDisruptionBudgetResource, 'default/pdb')?.status;
  const put = (...pods: Pod[]) => {
    for (const one of pods) world.put(podResource, one);
  };
  const by = (kind: string, name: string) => ({ metadata: { ownerReferences: [ownedBy(kind, name)] } });

  it("counts the pods of a Deployment by the Deployment's replicas, not by its ReplicaSets", async () => {
    world.put(podDisruptionBudgetResource, budget({ maxUnavailable: 1 }));
    world.put(deploymentResource, deployment(3));
    const set = replicaSet('web-1', 1);
    world.put(replicaSetResource, {
      ...set,
      metadata: { ...set.metadata, ownerReferences: [ownedBy('Deployment', 'web')] },
    });
    put(pod('a', { readyAt: 0, ...by('ReplicaSet', 'web-1') }));
    await world.reconcile('default/pdb');
    assert.equal(status()?.expectedPods, 3);
  });

  it('counts the pods of a StatefulSet and of a ReplicationController that have owners themselves', async () => {
    for (const resource of [statefulSetResource, replicationControllerResource]) {
      world = new ScriptedWorld(disruptionController);
      world.put(podDisruptionBudgetResource, budget({ maxUnavailable: 1 }));
      world.put(deploymentResource, deployment(7));
      const { kind } = resource;
      const apiVersion = resource.group ? 'apps/v1' : 'v1';
      const { metadata, spec } = replicaSet('db', 4);
      const ownerReferences = [ownedBy('Deployment', 'web')];
      const set = { apiVersion, kind, metadata: { ...metadata, ownerReferences }, spec };
      world.put(resource as unknown as typeof replicaSetResource, set);
      put(pod('a', { readyAt: 0, metadata: { ownerReferences: [{ ...ownedBy(kind, 'db'), apiVersion }] } }));
      assert.equal(await world.reconcile('default/pdb'), undefined);
      assert.equal(status()?.expectedPods, 4, kind);
    }
  });

  it('records each problem of the budget or of the pod once', async () => {
    world.put(podDisruptionBudgetResource, budget({ minAvailable: 1 }));
    const told = 'Normal NoPods pdb: No matching pods found';
    for (let count = 0; count < 2; count++) {
      await world.reconcile('default/pdb');
      world.sync(podDisruptionBudgetResource);
    }
    assert.deepEqual(world.told, [told]);
    const numbers = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    const status = { ...numbers, disruptedPods: { a: at(-121) } };
    world.put(podDisruptionBudgetResource, { ...budget({ minAvailable: 1 }), status });
    put(pod('a', { readyAt: 0 }));
    await world.reconcile('default/pdb');
    assert.deepEqual(world.told.slice(1), [
      "Warning NotDeleted a: Pod was expected by PDB default/pdb to be deleted but it wasn't",
    ]);
  });

  it('does nothing for a deleted budget', async () => {
    assert.equal(await world.reconcile('default/pdb'), undefined);
    assert.deepEqual(world.asked, []);
  });

  it('ignores owners of another uid, or of another group', async () => {
    world.put(podDisruptionBudgetResource, budget({ maxUnavailable: 1 }));
    world.put(replicaSetResource, replicaSet('web', 2));
    const reference = { ...ownedBy('ReplicaSet', 'web'), uid: 'earlier' };
    put(pod('a', { readyAt: 0, metadata: { ownerReferences: [reference] } }));
    await world.reconcile('default/pdb');
    assert.equal(status()?.conditions?.[0]?.reason, 'SyncFailed');
    const other = { ...ownedBy('ReplicaSet', 'web'), apiVersion: 'example.com/v1' };
    put(pod('a', { readyAt: 0, metadata: { ownerReferences: [other] } }));
    world.sync(podDisruptionBudgetResource);
    await world.reconcile('default/pdb');
    assert.equal(status()?.conditions?.[0]?.reason, 'SyncFailed');
  });

  it('reads only the pods of the budget’s namespace, and all of them for an empty selector', async () => {
    world.put(podDisruptionBudgetResource, budget({ minAvailable: 1, selector: {} }));
    put(pod('a', { readyAt: 0 }), pod('b', { readyAt: 0, metadata: { namespace: 'other' } }));
    await world.reconcile('default/pdb');
    assert.equal(status()?.currentHealthy, 1);
    world.put(podDisruptionBudgetResource, { ...budget({ minAvailable: 1 }), spec: { minAvailable: 1 } });
    await world.reconcile('default/pdb');
    assert.equal(status()?.currentHealthy, 0);
  });

  it('reconciles a budget when its pods or the owners of its pods change', () => {
    world.put(podDisruptionBudgetResource, budget({ minAvailable: 1 }));
    const itself = budget({ minAvailable: 1 });
    assert.deepEqual(keysFor(world.controller, 'poddisruptionbudgets', itself), ['default/pdb']);
    assert.deepEqual(keysFor(world.controller, 'pods', pod('a')), ['default/pdb']);
    assert.deepEqual(keysFor(world.controller, 'replicasets', replicaSet('web', 1)), ['default/pdb']);
    for (const plural of ['deployments', 'statefulsets', 'replicationcontrollers'])
      assert.deepEqual(keysFor(world.controller, plural, replicaSet('web', 1)), ['default/pdb'], plural);
    const other = pod('a', { metadata: { labels: { app: 'db' } } });
    assert.deepEqual(keysFor(world.controller, 'pods', other), []);
    assert.deepEqual(keysFor(world.controller, 'pods', pod('a', { metadata: { namespace: 'x' } })), []);
  });

  it('keeps the status of an eviction that the cache does not show yet', async () => {
    const one = world.put(podDisruptionBudgetResource, budget({ minAvailable: 1 }));
    put(pod('a', { readyAt: 0 }), pod('b', { readyAt: 0 }));
    const numbers = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
    const evicted = { ...numbers, disruptedPods: { a: at(0) } };
    const metadata = { ...one.metadata, resourceVersion: '7' };
    world.store(podDisruptionBudgetResource, { ...one, metadata, status: evicted });
    await assert.rejects(world.reconcile('default/pdb'), /it has changed/);
    assert.deepEqual(status(), evicted);
  });

  it('reconciles again when an announced pod should have been deleted', async () => {
    const one = budget({ minAvailable: 1 });
    const numbers = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    world.put(podDisruptionBudgetResource, { ...one, status: { ...numbers, disruptedPods: { a: at(0) } } });
    put(pod('a', { readyAt: 0 }));
    assert.deepEqual(await world.reconcile('default/pdb'), { requeueAfter: 120_000 });
  });
});

describe('a pod with an announced eviction', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'r', lastTransitionTime: at(0) } as const;
  const said = (reason: string, over: Parameters<typeof pod>[1] = {}): Pod => {
    const one = pod('a', over);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason,
      message: 'it goes',
      lastTransitionTime: at(0),
    } as const;
    return { ...one, status: { ...one.status, conditions: [ready, condition] } };
  };

  it('loses the announcement after two minutes', async () => {
    const world = new ScriptedWorld(staleDisruptionController);
    world.put(podResource, said('EvictionByEvictionAPI'));
    assert.deepEqual(await world.reconcile('default/a'), { requeueAfter: staleAfterMs });
    await world.clock.advance(staleAfterMs - 1);
    assert.deepEqual(await world.reconcile('default/a'), { requeueAfter: 1 });
    await world.clock.advance(1);
    await world.reconcile('default/a');
    assert.deepEqual(world.stored(podResource, 'default/a')?.status?.conditions, [
      ready,
      { type: 'DisruptionTarget', status: 'False', lastTransitionTime: at(120) },
    ]);
    await world.reconcile('default/gone');
    const { length } = world.asked;
    world.put(podResource, said('EvictionByEvictionAPI', { phase: 'Failed' }));
    await world.reconcile('default/a');
    assert.equal(world.asked.length, length);
  });

  it('is the only kind of pod that the controller reconciles', () => {
    const { controller } = new ScriptedWorld(staleDisruptionController);
    assert.deepEqual(keysFor(controller, 'pods', said('X')), ['default/a']);
    assert.deepEqual(keysFor(controller, 'pods', pod('a')), []);
  });

  it('is not changed when it terminates, has ended, or its node reports a disruption', () => {
    assert.equal(staleIn(said('X'), start + 30_000), 90_000);
    const { status, ...one } = said('X');
    const untimed = status?.conditions?.map(({ lastTransitionTime: _, ...condition }) => condition);
    assert.equal(staleIn({ ...one, status: { ...status, conditions: untimed } }, start), 0);
    for (const one of [
      said('TerminationByKubelet'),
      said('X', { phase: 'Failed' }),
      said('X', { phase: 'Succeeded' }),
      said('X', { metadata: { deletionTimestamp: at(1) } }),
      pod('a'),
    ])
      assert.equal(staleIn(one, start + 900_000), undefined);
  });
});
