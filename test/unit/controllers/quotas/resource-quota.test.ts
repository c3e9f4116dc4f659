/**
 * Times at which quotas are counted and usage is released, with failed writes, stale caches and concurrent
 * clients.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { type ResourceQuota, resourceQuotaResource } from '../../../../src/api/core/v1/resource-quota.ts';
import { secretResource } from '../../../../src/api/core/v1/secret.ts';
import type { ConfigMap } from '../../../../src/api/core/v1/types.gen.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { resourceQuotaController, resyncMs } from '../../../../src/controllers/quotas/resource-quota.ts';
import { settleMs } from '../../../../src/controllers/quotas/resource-quota-plan.ts';
import { at, meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/q';
const hard = { configmaps: '9' };
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(resourceQuotaController);
});
const quota = (used?: number, metadata = meta('q')): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata,
  spec: { hard },
  ...(used !== undefined && { status: { hard, used: { configmaps: String(used) } } }),
});
const configMap = (name: string, namespace = 'default'): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: meta(name, { namespace }),
});
const put = (...names: string[]) => {
  for (const name of names) world.put(configMapResource, configMap(name));
};
const used = () => world.stored(resourceQuotaResource, key)?.status?.used?.configmaps;
/** Takes quota as admission does: it increases the used amount in the status. */
const take = (amount: number) => {
  const stored = world.stored(resourceQuotaResource, key) ?? quota();
  world.put(resourceQuotaResource, { ...stored, status: { hard, used: { configmaps: String(amount) } } });
};
const after = async (ms: number) => {
  await world.clock.advance(ms);
  world.sync(resourceQuotaResource);
  return world.reconcile(key);
};

describe('a quota', () => {
  it('is counted in its namespace, and counted again periodically', async () => {
    world.put(resourceQuotaResource, quota());
    put('a', 'b');
    world.put(configMapResource, configMap('c', 'other'));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: resyncMs });
    assert.equal(used(), '2');
    const { length } = world.asked;
    assert.deepEqual(await after(10_000), { requeueAfter: resyncMs });
    assert.equal(world.asked.length, length, 'an unchanged status is not written');
  });

  it('is counted at most once in 200 ms for any number of changed objects', async () => {
    world.put(resourceQuotaResource, quota());
    put('a');
    await world.reconcile(key);
    put('b');
    assert.deepEqual(await after(50), { requeueAfter: 150 });
    assert.equal(used(), '1');
    await after(150);
    assert.equal(used(), '2');
  });

  it('keeps the usage charged for an object that is not stored yet, and releases it if the object is never stored', async () => {
    world.put(resourceQuotaResource, quota(0));
    await world.reconcile(key);
    await after(60_000);
    take(1);
    assert.deepEqual(await after(200), { requeueAfter: settleMs });
    assert.equal(used(), '1');
    assert.deepEqual(await after(settleMs - 500), { requeueAfter: 500 });
    assert.equal(used(), '1');
    // Another client takes quota meanwhile; its object may also be about to be stored.
    take(2);
    assert.deepEqual(await after(400), { requeueAfter: settleMs });
    assert.equal(used(), '2');
    await after(settleMs);
    assert.equal(used(), '0');
  });

  it('keeps usage charged before the controller started, until it settles', async () => {
    world.put(resourceQuotaResource, quota(3));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: settleMs });
    assert.equal(used(), '3');
    await after(settleMs);
    assert.equal(used(), '0');
  });

  it('releases the usage of a deleted object at once, and retries a failed write', async () => {
    world.put(resourceQuotaResource, quota(2));
    put('a', 'b');
    await world.reconcile(key);
    await world.clock.advance(300);
    take(3);
    world.seen.remove(configMapResource, 'default/a');
    world.refuse = (verb) => (verb === 'updateStatus' ? newInternalError('no') : undefined);
    await assert.rejects(after(0), /no/);
    world.refuse = () => undefined;
    await after(300);
    assert.equal(used(), '2');
  });

  it('keeps the usage of a kind whose objects are not in the cache yet', async () => {
    world.put(resourceQuotaResource, quota(4));
    const informer = world.seen.informerFor(configMapResource);
    informer.hasSynced = false;
    await after(60_000);
    await after(60_000);
    assert.equal(used(), '4');
    informer.hasSynced = true;
    await after(60_000);
    assert.equal(used(), '0');
  });

  it('gets no usage if it is deleted', async () => {
    world.put(resourceQuotaResource, quota(1, meta('q', { deletionTimestamp: at(1), finalizers: ['x'] })));
    assert.equal(await after(60_000), undefined);
    world.seen.remove(resourceQuotaResource, key);
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.asked, []);
  });

  it('is enqueued by its own changes and by changes of the kinds that it counts in its namespace', () => {
    world.put(resourceQuotaResource, quota());
    world.put(resourceQuotaResource, quota(0, meta('far', { namespace: 'other' })));
    assert.deepEqual(world.keysOf(resourceQuotaResource, quota()), [key]);
    assert.deepEqual(world.keysOf(configMapResource, configMap('a')), [key]);
    const secret = { ...configMap('a'), kind: 'Secret' } as never;
    assert.deepEqual(world.keysOf(secretResource, secret), []);
    const { keysOfKind } = world.controller;
    // The objects of a new kind have not been counted yet.
    assert.deepEqual(keysOfKind?.(configMapResource as ResourceDefinition), [key, 'other/far']);
    assert.deepEqual(keysOfKind?.(secretResource as ResourceDefinition), []);
  });
});
