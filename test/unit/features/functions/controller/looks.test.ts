/** Changes after which a function or a pool is reconciled, and the requests while the cache lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../../src/api/coordination/v1/lease.ts';
import { masterLabel } from '../../../../../src/api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { objectKey } from '../../../../../src/apimachinery/meta.ts';
import { newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import {
  functionController,
  functionRights,
} from '../../../../../src/features/functions/controller/function.ts';
import {
  warmPoolController,
  warmPoolRights,
} from '../../../../../src/features/functions/controller/warm-pool.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const images = { python: 'python:3', nodejs: 'node:22' };
const fn = (spec: object = {}, status: object = {}): Fn =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: meta('f') },
    spec: {
      ...{ runtime: 'python', handler: 'main.handler', files: { 'main.py': '' }, timeoutSeconds: 30 },
      ...{ concurrency: 10, minScale: 1, maxScale: 10, idleSeconds: 60, windowSeconds: 30, target: 7 },
      ...spec,
    },
    status,
  }) as unknown as Fn;
const labeled = (name: string, labels?: Readonly<Record<string, string>>, more: object = {}) => ({
  metadata: meta(name, labels && { labels }),
  ...more,
});
const pod = (name: string, labels?: Readonly<Record<string, string>>) =>
  labeled(name, labels, { spec: { containers: [] } }) as unknown as Pod;
const version = (name: string, labels?: Readonly<Record<string, string>>) =>
  labeled(name, labels) as unknown as FunctionVersion;

/** Makes the pod run and be ready, in the cache too. */
function starts(server: ScriptedWorld, key: string): void {
  becomes(server, key, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
}

/** Sets the pod's status, in the cache too. */
function becomes(server: ScriptedWorld, key: string, status: Pod['status']): void {
  server.edit(podResource, key, (one) => ({ ...one, status }) as Pod);
  server.sync(podResource);
}

describe('a pool', () => {
  const key = 'default/python';
  const world = () => {
    const server = new ScriptedWorld(warmPoolController(images, 2), 0, [warmPoolRights, functionRights]);
    server.put(functionResource, fn());
    const node = {
      metadata: { ...meta('n1'), namespace: undefined },
      status: { capacity: { cpu: '4', memory: '8Gi' } },
    };
    server.put(nodeResource, node as unknown as Node);
    return server;
  };

  it('is reconciled only when a function, a version or a pod of its runtime changes', () => {
    const server = world();
    const warm = { 'minik8s.io/warm': 'nodejs' };
    assert.deepEqual(server.keysOf(functionResource, fn()), [key]);
    assert.deepEqual(server.keysOf(functionResource, fn({ runtime: undefined })), []);
    assert.deepEqual(server.keysOf(functionVersionResource, version('v', warm)), ['default/nodejs']);
    assert.deepEqual(server.keysOf(functionVersionResource, version('v')), []);
    assert.deepEqual(server.keysOf(podResource, pod('p', warm)), ['default/nodejs']);
    assert.deepEqual(server.keysOf(podResource, pod('p')), []);
  });
  it('is reconciled once for all functions of its runtime when the nodes change, and not without a function', () => {
    const server = world();
    server.put(functionResource, { ...fn(), metadata: meta('g') } as Fn);
    server.put(functionResource, { ...fn({ runtime: undefined }), metadata: meta('own') } as Fn);
    const [node] = server.all(nodeResource);
    assert.deepEqual(server.keysOf(nodeResource, node ?? assert.fail()), [key]);
  });
  it('is reconciled again when a failed instance may be replaced, and otherwise not by time', async () => {
    const server = world();
    await server.reconcile(key);
    for (const kind of [functionVersionResource, podResource]) server.sync(kind as typeof podResource);
    assert.equal(await server.reconcile(key), undefined);
    const [name = ''] = server.names(podResource);
    becomes(server, `default/${name}`, { phase: 'Failed' });
    server.sync(podResource);
    await server.clock.advance(10_000);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 20_000 });
    assert.equal(server.names(podResource).length, 2);
    await server.clock.advance(20_000);
    await server.reconcile(key);
    assert.equal(server.names(podResource).filter((one) => one !== name).length, 2);
  });
  it('waits until the cache shows its writes, queries the server after five seconds, and logs when', async () => {
    const server = world();
    await server.reconcile(key);
    const asked = server.asked.length;
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.equal(server.asked.length, asked);
    await server.clock.advance(5000);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.deepEqual(
      server.asked.slice(asked).map((one) => one.split(' ')[0]),
      ['get', 'get'],
    );
  });
  it('ignores the instances and the version of another runtime', async () => {
    const server = world();
    const other = { 'minik8s.io/warm': 'nodejs', 'minik8s.io/function-version': 'other' };
    server.put(podResource, pod('other', other));
    server.put(functionVersionResource, version('other', other));
    await server.reconcile(key);
    assert.equal(server.names(podResource).length, 3);
    assert.ok(server.asked.every((one) => one.startsWith('create')));
  });
  it('is not reconciled when a node without room is added', () => {
    const server = new ScriptedWorld(warmPoolController(images, 2), 0, [warmPoolRights, functionRights]);
    server.put(functionResource, fn());
    const node = { metadata: { ...meta('n1'), namespace: undefined }, status: {} } as unknown as Node;
    server.put(nodeResource, node);
    assert.deepEqual(server.keysOf(nodeResource, node), []);
  });
  it('removes an instance once, while the cache does not show the deletion', async () => {
    const server = world();
    await server.reconcile(key);
    for (const kind of [functionVersionResource, podResource]) server.sync(kind as typeof podResource);
    server.seen.remove(functionResource, 'default/f');
    await server.reconcile(key);
    const removals = () => server.asked.filter((one) => one.startsWith('delete Pod')).length;
    assert.equal(removals(), 2);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.equal(removals(), 2);
  });
});

describe('a function', () => {
  const key = 'default/f';
  const world = (one = fn()) => {
    const server = new ScriptedWorld(functionController(images), 0, [warmPoolRights, functionRights]);
    server.put(functionResource, one);
    return server;
  };

  it('is reconciled when it, its version or its instance changes, but not for objects of another owner', async () => {
    const server = world();
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    const [own] = server.all(functionVersionResource);
    const [instance] = server.all(podResource);
    assert.deepEqual(server.keysOf(functionResource, fn()), [key]);
    assert.deepEqual(server.keysOf(functionVersionResource, own ?? assert.fail()), [key]);
    assert.deepEqual(server.keysOf(podResource, instance ?? assert.fail()), [key]);
    const labels = { 'minik8s.io/function': 'f' };
    assert.deepEqual(server.keysOf(podResource, pod('p', labels)), [], 'a pod without an owner');
    assert.deepEqual(server.keysOf(functionVersionResource, version('v', labels)), []);
  });
  it('waits until the cache shows its version and its instances, and creates nothing twice', async () => {
    const server = world();
    for (const kind of [functionVersionResource, podResource]) {
      await server.reconcile(key);
      const asked = server.asked.length;
      assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 }, kind.kind);
      assert.equal(server.asked.length, asked, kind.kind);
      server.sync(kind as typeof podResource);
    }
    assert.equal(await server.reconcile(key), undefined);
  });
  it('recognizes a version as its own that was stored although the answer was lost, and waits for the cache', async () => {
    const server = world();
    server.loses = (verb) => verb === 'create';
    await assert.rejects(server.reconcile(key), /connection broke/);
    server.loses = () => false;
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.deepEqual(server.told, []);
    assert.equal(server.names(functionVersionResource).length, 1);
  });
  it('has the lock of another version with the same image, and no instance before', async () => {
    const built = { lock: 'a==1', conditions: [{ type: 'Built', status: 'True', reason: '', message: '' }] };
    const server = world();
    await server.reconcile(key);
    const [first = ''] = server.names(functionVersionResource);
    server.edit(
      functionVersionResource,
      `default/${first}`,
      (one) => ({ ...one, status: built }) as unknown as FunctionVersion,
    );
    server.sync(functionVersionResource);
    server.put(functionResource, fn({ env: [{ name: 'A', value: '1' }] }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    const second = server.all(functionVersionResource).find(({ metadata }) => metadata.name !== first);
    assert.deepEqual([second?.status, server.names(podResource)], [built, []]);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 }, 'the cache does not show the lock');
    server.sync(functionVersionResource);
    await server.reconcile(key);
    assert.equal(server.names(podResource).length, 1);
  });
  it('is reconciled again when its first instance may be removed, keeps it until then, and removes it once', async () => {
    const server = world(fn({ minScale: 0 }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    const [name = ''] = server.names(podResource);
    starts(server, `default/${name}`);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 60_000 });
    server.sync(functionResource);
    await server.clock.advance(59_000);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 1000 });
    await server.clock.advance(1000);
    assert.equal(await server.reconcile(key), undefined);
    const removals = () => server.asked.filter((one) => one.startsWith('delete Pod')).length;
    assert.equal(removals(), 1);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.equal(removals(), 1);
  });
  it('writes its status once before an instance is created, and creates no instance if the write fails', async () => {
    const server = world();
    await server.reconcile(key);
    server.sync(functionVersionResource);
    server.refuse = (verb) =>
      verb === 'patch' ? newStatusError('InternalError', 'the store is away') : undefined;
    await assert.rejects(server.reconcile(key), /the store is away/);
    assert.deepEqual(server.names(podResource), []);
    server.refuse = () => undefined;
    await server.reconcile(key);
    for (const kind of [functionResource, podResource]) server.sync(kind as typeof podResource);
    await server.reconcile(key);
    server.sync(functionResource);
    const asked = server.asked.length;
    await server.reconcile(key);
    assert.deepEqual(server.asked.slice(asked), []);
  });
  it('reports once why its version is not called', async () => {
    const server = world();
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    const [name = ''] = server.names(podResource);
    const waiting = { reason: 'FunctionBuildFailed', message: 'no such library' };
    server.edit(
      podResource,
      `default/${name}`,
      (one) =>
        ({
          ...one,
          status: { phase: 'Pending', containerStatuses: [{ state: { waiting } }] },
        }) as unknown as Pod,
    );
    for (let look = 0; look < 2; look++) {
      for (const kind of [functionResource, podResource]) server.sync(kind as typeof podResource);
      await server.reconcile(key);
    }
    assert.deepEqual(
      server.told.filter((one) => one.startsWith('Warning')),
      ['Warning FunctionBuildFailed f: no such library'],
    );
  });
  it('keeps a version that is in use, and removes an unused version once, even if the cache still shows it', async () => {
    const server = world(fn({ minScale: 0 }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    const [first = ''] = server.names(functionVersionResource);
    server.put(functionResource, fn({ minScale: 0, handler: 'main.other' }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    assert.ok(!server.names(functionVersionResource).includes(first));
    const removals = () => server.asked.filter((one) => one.startsWith('delete FunctionVersion'));
    assert.deepEqual(removals(), [`delete FunctionVersion ${first}`]);
    server.sync(podResource);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 5000 });
    assert.deepEqual(removals(), [`delete FunctionVersion ${first}`]);
  });
  it('does not remove a version that was created again under its name', async () => {
    const server = world(fn({ minScale: 0 }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    const [first] = server.all(functionVersionResource);
    assert.ok(first);
    const again = { ...first, metadata: { ...first.metadata, uid: 'another' } };
    server.store(functionVersionResource, again);
    server.seen.put(functionResource, fn({ minScale: 0, handler: 'main.other' }));
    await server.reconcile(key);
    server.seen.put(
      functionVersionResource,
      server.all(functionVersionResource).find(({ metadata }) => metadata.uid !== 'another') ?? assert.fail(),
    );
    await assert.rejects(server.reconcile(key), /it is another by now/);
    assert.equal(server.stored(functionVersionResource, objectKey(again))?.metadata.uid, 'another');
  });
  it('causes no request after its deletion', async () => {
    const server = world();
    server.seen.remove(functionResource, key);
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('counts demand only from Leases in kube-system', async () => {
    const lease = (namespace: string, holderIdentity: string) =>
      ({
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        metadata: meta(holderIdentity, { namespace, labels: { [masterLabel]: '' } }),
        spec: { holderIdentity, renewTime: at(0), leaseDurationSeconds: 60 },
      }) as unknown as Lease;
    const server = world(fn({ minScale: 0 }, { demand: { m: 1, forged: 5 } }));
    server.put(leaseResource, lease('default', 'forged'));
    server.put(leaseResource, lease('kube-system', 'm'));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    await server.reconcile(key);
    const [name = ''] = server.names(podResource);
    starts(server, `default/${name}`);
    for (let look = 0; look < 2; look++) {
      await server.reconcile(key);
      for (const kind of [functionResource, podResource]) server.sync(kind as typeof podResource);
    }
    assert.deepEqual(server.stored(functionResource, key)?.status?.demand, { m: 1 });
    assert.equal(server.names(podResource).length, 1);
  });
  it('is not reconciled if its masters are listed in another order', () => {
    const lease = (name: string) =>
      ({
        metadata: meta(name, { namespace: 'kube-system', labels: { [masterLabel]: '' } }),
        spec: { holderIdentity: name, renewTime: at(0), leaseDurationSeconds: 60 },
      }) as unknown as Lease;
    const server = world(fn({}, { demand: { m1: 1 } }));
    const listed = (...names: readonly string[]) => {
      for (const name of ['m1', 'm2']) server.seen.remove(leaseResource, `kube-system/${name}`);
      for (const name of names) server.put(leaseResource, lease(name));
      return server.keysOf(leaseResource, lease('m1'));
    };
    assert.deepEqual(listed('m1', 'm2'), [key]);
    assert.deepEqual(listed('m2', 'm1'), []);
    assert.deepEqual(listed('m1', 'm2'), []);
    assert.deepEqual(listed('m1'), [key]);
  });
  it('is reconciled again after an instance that could not be made or removed, and not in a namespace that ends', async () => {
    const refused = newStatusError('InternalError', 'the store is away');
    const ending = newStatusError('Forbidden', 'it ends', {
      causes: [{ reason: 'NamespaceTerminating', message: '', field: '' }],
    });
    const server = world(fn({ minScale: 1 }));
    await server.reconcile(key);
    server.sync(functionVersionResource);
    for (const [error, isTold] of [
      [refused, true],
      [ending, false],
    ] as const) {
      server.refuse = (verb) => (verb === 'create' ? error : undefined);
      if (isTold) await assert.rejects(server.reconcile(key), /the store is away/);
      else assert.equal(await server.reconcile(key), undefined);
      server.sync(functionResource);
    }
    server.refuse = () => undefined;
    await server.reconcile(key);
    const [name = ''] = server.names(podResource);
    becomes(server, `default/${name}`, { phase: 'Failed' });
    for (const kind of [functionResource, podResource]) server.sync(kind as typeof podResource);
    server.refuse = (verb) => (verb === 'delete' ? refused : undefined);
    await assert.rejects(server.reconcile(key), /the store is away/);
  });
});
