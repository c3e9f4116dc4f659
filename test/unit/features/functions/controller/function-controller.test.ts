/** Actions of the function controller for the objects in its cache. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../../src/api/coordination/v1/lease.ts';
import { masterLabel } from '../../../../../src/api/coordination/v1/master-lease.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { functionController } from '../../../../../src/features/functions/controller/function.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const key = 'default/f';
const fn = (over: Partial<Fn['metadata']> = {}, status: object = {}): Fn =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Function' },
    metadata: meta('f', over),
    spec: {
      ...{ runtime: 'python', handler: 'main.handler', files: { 'main.py': '' }, timeoutSeconds: 30 },
      ...{ concurrency: 10, minScale: 1, maxScale: 10, idleSeconds: 60, windowSeconds: 30, target: 7 },
    },
    status,
  }) as unknown as Fn;

async function look(one: Fn) {
  const server = new ScriptedWorld(functionController({ python: 'python:3', nodejs: 'node:22' }));
  server.put(functionResource, one);
  for (let round = 0; round < 2; round++) {
    await server.reconcile(key);
    server.sync(functionVersionResource);
  }
  return server;
}

describe('a function', () => {
  it('gets its version, and an instance of that version', async () => {
    const server = await look(fn());
    assert.deepEqual(
      [server.names(functionVersionResource).length, server.names(podResource).length],
      [1, 1],
    );
  });
  it('gets neither while it is being deleted', async () => {
    const server = await look(fn({ deletionTimestamp: at(1), finalizers: ['x'] }));
    assert.deepEqual([server.names(functionVersionResource), server.names(podResource)], [[], []]);
  });
  it('reports that no version can be called if its called version was deleted', async () => {
    const server = await look(fn({}, { activeVersion: 'f-gone', demand: {} }));
    const status = server.stored(functionResource, key)?.status;
    assert.ok(status?.latestVersion);
    assert.equal(status.activeVersion ?? undefined, undefined);
  });
  it('reports that a version of another owner has its name, and ignores a version deleted in the meantime', async () => {
    for (const isThere of [true, false]) {
      const name = (await look(fn())).names(functionVersionResource)[0] ?? assert.fail();
      const server = new ScriptedWorld(functionController({ python: 'python:3', nodejs: 'node:22' }));
      server.put(functionResource, fn());
      const other = { kind: 'FunctionVersion', metadata: meta(name), spec: {} } as unknown as FunctionVersion;
      server.store(functionVersionResource, other);
      server.refuse = (verb) => {
        if (verb === 'get' && !isThere) server.take(functionVersionResource, `default/${name}`);
        return undefined;
      };
      await assert.rejects(server.reconcile(key), /already exists/);
      const said = [
        `Warning FailedCreate f: FunctionVersion ${name} exists already, but does not belong to this function: delete it`,
      ];
      assert.deepEqual(server.told, isThere ? said : []);
      assert.deepEqual(server.names(podResource), []);
    }
  });
  it('is reconciled when masters appear or disappear, not when one renews its Lease', () => {
    const server = new ScriptedWorld(functionController({ python: 'python:3', nodejs: 'node:22' }));
    const lease = (name: string, seconds: number) =>
      ({
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        metadata: meta(name, { namespace: 'kube-system', labels: { [masterLabel]: '' } }),
        spec: { holderIdentity: name, renewTime: at(seconds), leaseDurationSeconds: 60 },
      }) as unknown as Lease;
    server.put(functionResource, fn({}, { demand: { m1: 1 } }));
    server.put(functionResource, fn({ name: 'rests', uid: 'uid-rests' }));
    const changed = (one: Lease) => {
      server.put(leaseResource, one);
      return server.keysOf(leaseResource, one);
    };
    assert.deepEqual(changed(lease('m1', 0)), [key]);
    assert.deepEqual(changed(lease('m1', 1)), []);
    assert.deepEqual(changed(lease('m2', 1)), [key]);
    assert.deepEqual(changed(lease('m2', 2)), []);
    server.seen.remove(leaseResource, 'kube-system/m1');
    assert.deepEqual(changed(lease('m2', 3)), [key]);
    assert.deepEqual(changed(lease('m1', 3)), [key]);
    // The cache lists the leases in another order than before.
    for (const name of ['m2', 'm1']) server.seen.remove(leaseResource, `kube-system/${name}`);
    server.put(leaseResource, lease('m1', 4));
    assert.deepEqual(changed(lease('m2', 4)), []);
  });
});
