/** Waiting instances: the size of a pool, and the function that gets an instance, on a cache that lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../../src/api/coordination/v1/lease.ts';
import { masterLabel } from '../../../../../src/api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { isTerminating } from '../../../../../src/apimachinery/meta.ts';
import { newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import {
  functionController,
  functionRights,
} from '../../../../../src/features/functions/controller/function.ts';
import { versionOf } from '../../../../../src/features/functions/controller/version-plan.ts';
import {
  warmPoolController,
  warmPoolRights,
} from '../../../../../src/features/functions/controller/warm-pool.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const images = { python: 'python:3', nodejs: 'node:22' };
const pool = warmVersion('default', 'python', 'python:3', sha256);
const key = 'default/python';

const fn = (over: Partial<Fn['metadata']> = {}, status: object = {}): Fn =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Function' },
    metadata: meta('f', over),
    spec: {
      ...{ runtime: 'python', handler: 'main.handler', files: { 'main.py': '' }, timeoutSeconds: 30 },
      ...{ concurrency: 10, minScale: 0, maxScale: 10, idleSeconds: 60, windowSeconds: 30, target: 7 },
    },
    status,
  }) as unknown as Fn;

const node = (spec: object = {}): Node =>
  ({
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { ...meta('n1'), namespace: undefined },
    spec,
    status: { capacity: { cpu: '4', memory: '8Gi' } },
  }) as unknown as Node;

const waiting = (name: string, over: Partial<Pod['metadata']> = {}): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: meta(name, {
      labels: { 'minik8s.io/warm': 'python', 'minik8s.io/function-version': pool.metadata.name ?? '' },
      ...over,
    }),
    spec: { containers: [] },
    status: { phase: 'Running', containerStatuses: [{ state: { running: {} } }] },
  }) as unknown as Pod;

const given = { 'minik8s.io/function': 'g', 'minik8s.io/function-version': 'g-1' };

describe('a pool', () => {
  function world() {
    const one = new ScriptedWorld(warmPoolController(images, 2), 0, [warmPoolRights, functionRights]);
    one.put(functionResource, fn());
    one.put(nodeResource, node());
    const sync = () => {
      one.sync(podResource);
      one.sync(functionVersionResource);
    };
    const left = () => one.all(podResource).filter((pod) => !isTerminating(pod));
    return Object.assign(one, { syncAll: sync, left });
  }

  it('is filled once, even if it is reconciled several times before the cache shows the instances', async () => {
    const one = world();
    await one.reconcile(key);
    assert.deepEqual(one.names(functionVersionResource), [pool.metadata.name]);
    assert.equal(one.left().length, 2);
    await one.reconcile(key);
    assert.equal(one.names(podResource).length, 2);
    one.syncAll();
    await one.reconcile(key);
    assert.equal(one.left().length, 2);
  });
  it('is deleted with the last function of its runtime, and its version too', async () => {
    for (const end of [
      (one: ScriptedWorld) => one.put(functionResource, fn({ deletionTimestamp: at(0), finalizers: ['x'] })),
      (one: ScriptedWorld) => one.seen.remove(functionResource, 'default/f'),
      (one: ScriptedWorld) => one.put(nodeResource, node({ unschedulable: true })),
    ]) {
      const one = world();
      await one.reconcile(key);
      one.syncAll();
      end(one);
      await one.reconcile(key);
      assert.equal(one.left().length, 0);
      assert.deepEqual(one.names(functionVersionResource), []);
    }
  });
  it('does not delete an instance that was assigned to a function in the meantime', async () => {
    const one = world();
    one.put(podResource, waiting('w'));
    one.store(
      podResource,
      waiting('w', { labels: { 'minik8s.io/warm': 'python', ...given }, resourceVersion: '2' }),
    );
    one.seen.remove(functionResource, 'default/f');
    await assert.rejects(one.reconcile(key), /another by now/);
    assert.deepEqual(
      one.left().map(({ metadata }) => metadata.name),
      ['w'],
    );
  });
  it('serves no functions of another runtime', async () => {
    const one = world();
    await one.reconcile('default/nodejs');
    assert.deepEqual([one.left(), one.names(functionVersionResource)], [[], []]);
  });
  it('has the version that exists already, and none if that cannot be created', async () => {
    const one = world();
    one.store(functionVersionResource, { ...pool, metadata: meta(pool.metadata.name ?? '') } as never);
    await one.reconcile(key);
    assert.equal(one.left().length, 2);
    const other = world();
    other.refuse = (verb) =>
      verb === 'create' ? newStatusError('InternalError', 'the store is away') : undefined;
    await assert.rejects(other.reconcile(key), /the store is away/);
    assert.deepEqual(
      other.asked.at(-1),
      `create FunctionVersion ${pool.metadata.name}`,
      'no request follows',
    );
  });
  it('is reconciled when other nodes have room than before, and not whenever a node is written', () => {
    const one = world();
    assert.deepEqual(one.keysOf(nodeResource, node()), [key]);
    assert.deepEqual(one.keysOf(nodeResource, node()), []);
    one.put(nodeResource, node({ unschedulable: true }));
    assert.deepEqual(one.keysOf(nodeResource, node()), [key]);
  });
});

describe('a function', () => {
  const draft = versionOf(fn(), images, sha256);
  const latest = draft.metadata.name ?? '';
  /**
   * World with a function that needs `wanted` instances, and whose version was called before unless it
   * `isNew`.
   */
  async function world(wanted: number, isNew = false) {
    const one = new ScriptedWorld(functionController(images), 0, [warmPoolRights, functionRights]);
    const lease = {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: meta('m', { namespace: 'kube-system', labels: { [masterLabel]: '' } }),
      spec: { holderIdentity: 'm', renewTime: at(0), leaseDurationSeconds: 60 },
    };
    one.put(leaseResource, lease as unknown as Lease);
    const ready = { type: 'Ready', status: 'True', reason: 'Callable', lastTransitionTime: at(-600) };
    const status = { demand: { m: wanted }, ...(!isNew && { activeVersion: latest, conditions: [ready] }) };
    one.put(functionResource, fn({}, status));
    await one.reconcile('default/f');
    one.sync(functionVersionResource);
    const own = () =>
      one.all(podResource).filter(({ metadata }) => metadata.labels?.['minik8s.io/function'] === 'f');
    return Object.assign(one, { own, names: () => own().map(({ metadata }) => metadata.name) });
  }

  it('is given as many waiting instances as it needs, the oldest first, and no more are created', async () => {
    const one = await world(2);
    for (const [name, seconds] of [
      ['young', 3],
      ['old', 1],
      ['middle', 2],
    ] as const)
      one.put(podResource, waiting(name, { creationTimestamp: at(seconds) }));
    await one.reconcile('default/f');
    assert.deepEqual(one.names(), ['middle', 'old']);
    const [pod] = one.own();
    assert.equal(pod?.metadata.labels?.['minik8s.io/function-version'], latest);
    assert.equal(pod?.metadata.ownerReferences?.[0]?.uid, 'uid-f');
    assert.equal(pod?.metadata.annotations?.['minik8s.io/given-at'], at(0));
    // The cache does not show the assignment yet.
    await one.reconcile('default/f');
    assert.deepEqual(one.names(), ['middle', 'old']);
  });
  it('creates as many instances as are missing', async () => {
    const one = await world(3);
    one.put(podResource, waiting('w'));
    await one.reconcile('default/f');
    assert.equal(one.own().length, 3);
    assert.ok(one.names().includes('w'));
  });
  it('gets no instance that another function already has, even if the cache does not show that, and no deleted instance', async () => {
    const one = await world(2);
    one.put(podResource, waiting('w'));
    one.store(
      podResource,
      waiting('w', { labels: { 'minik8s.io/warm': 'python', ...given }, resourceVersion: '2' }),
    );
    one.seen.put(podResource, waiting('gone'));
    await one.reconcile('default/f');
    assert.equal(one.own().length, 2);
    assert.equal(one.stored(podResource, 'default/w')?.metadata.labels?.['minik8s.io/function'], 'g');
  });
  it('gets no new instance in place of an instance whose assignment has just failed', async () => {
    for (const reason of ['InternalError', 'Forbidden'] as const) {
      const one = await world(1);
      one.put(podResource, waiting('w'));
      one.refuse = (_, name) => (name === 'w' ? newStatusError(reason, 'not now') : undefined);
      await assert.rejects(one.reconcile('default/f'), /not now/);
      assert.deepEqual(one.names(), []);
      one.refuse = () => undefined;
      await one.reconcile('default/f');
      assert.deepEqual(one.names(), ['w']);
      assert.ok(one.told.includes('Normal Given f: Assigned waiting pod: w'));
    }
  });
  it('gets no instance that is ending or has ended', async () => {
    const one = await world(1);
    one.put(podResource, waiting('leaving', { deletionTimestamp: at(0) }));
    one.put(podResource, { ...waiting('over'), status: { ...waiting('over').status, phase: 'Failed' } });
    await one.reconcile('default/f');
    assert.equal(one.own().length, 1);
    assert.ok(!one.names().some((name) => name === 'leaving' || name === 'over'));
  });
  it('uses only the demand of live masters, and reports it', async () => {
    const one = await world(1);
    const now = one.stored(functionResource, 'default/f') ?? assert.fail();
    one.put(functionResource, { ...now, status: { ...now.status, demand: { m: 1, gone: 3 } } } as Fn);
    await one.reconcile('default/f');
    assert.equal(one.own().length, 1);
    assert.deepEqual(one.stored(functionResource, 'default/f')?.status?.demand, { m: 1 });
  });
  it('is first tried with an instance that is built, even if others wait', async () => {
    const one = await world(1, true);
    one.put(podResource, waiting('w'));
    await one.reconcile('default/f');
    assert.equal(one.own().length, 1);
    assert.ok(!one.names().includes('w'));
  });
});
