/** Actions of the garbage collector where its cache lags, references are wrong, or requests fail. */

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { replicaSetResource } from '../../../../src/api/apps/v1/replica-set.ts';
import { type ConfigMap, configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../../src/apimachinery/resource-definition.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { packKey } from '../../../../src/base/packed-key.ts';
import { garbageCollector } from '../../../../src/controllers/garbage/garbage-collector.ts';
import { at, meta, node, replicaSet } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const owned = (name: string, over: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: `uid-${name}`,
  blockOwnerDeletion: true,
  ...over,
});
const map = (name: string, owners: OwnerReference[] = [], over: Partial<ObjectMeta> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: meta(name, { ...(owners.length > 0 && { ownerReferences: owners }), ...over }),
});
const waiting = { deletionTimestamp: at(1), finalizers: ['foregroundDeletion', 'example.com/mine'] };

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(garbageCollector);
});
const put = (...objects: ConfigMap[]) => {
  for (const object of objects) world.put(configMapResource, object);
};
const keyOf = (object: KubeObject, ref: ResourceRef = configMapResource) =>
  world.keysOf(ref, object)[0] ?? assert.fail();
const reconcile = (object: KubeObject, ref?: ResourceRef) => world.reconcile(keyOf(object, ref));
const left = () => world.names(configMapResource);
const ownersOf = (name: string) =>
  world.stored(configMapResource, `default/${name}`)?.metadata.ownerReferences?.map(({ uid }) => uid);

describe('an object', () => {
  it('is deleted only if its owner does not exist', async () => {
    put(map('here'), map('a', [owned('here')]), map('b', [owned('gone')]), map('alone'));
    for (const name of ['a', 'b', 'alone']) await reconcile(map(name));
    assert.deepEqual(left(), ['a', 'alone', 'here']);
  });

  it('stays if only the server has its owner, and is deleted if the server has another owner of that name', async () => {
    world.store(configMapResource, map('late'));
    world.store(configMapResource, map('new', [], { uid: 'another' }));
    put(map('a', [owned('late')]), map('b', [owned('new')]));
    for (const name of ['a', 'b']) await reconcile(map(name));
    assert.deepEqual(left(), ['a', 'late', 'new']);
  });

  it('stays if its owner is of an unknown kind, or of a kind that no namespace can hold', async () => {
    put(map('a', [owned('x', { kind: 'Widget' })]), map('b', [owned('x', { apiVersion: 'example.com/v1' })]));
    const free = node('n1');
    free.metadata.ownerReferences = [owned('x')];
    world.put(nodeResource, free);
    for (const name of ['a', 'b']) await reconcile(map(name));
    await reconcile(free, nodeResource);
    assert.deepEqual([left(), world.names(nodeResource)], [['a', 'b'], ['n1']]);
  });

  it('may have an owner without a namespace', async () => {
    const by = (name: string) => [owned(name, { kind: 'Node' })];
    world.put(nodeResource, node('n1'));
    world.store(nodeResource, node('n2'));
    world.seen.put(nodeResource, node('n4'));
    put(map('a', by('n1')), map('b', by('n2')), map('c', by('n3')), map('d', by('n4')));
    for (const name of ['a', 'b', 'c', 'd']) await reconcile(map(name));
    assert.deepEqual(left(), ['a', 'b', 'd'], 'what the cache shows is not asked for');
    const owner = node('n5');
    owner.metadata.ownerReferences = by('n3');
    world.put(nodeResource, owner);
    await reconcile(owner, nodeResource);
    assert.deepEqual(world.names(nodeResource), ['n1', 'n2']);
  });

  it('may have an owner of any group', async () => {
    const by = (name: string) => [owned(name, { apiVersion: 'apps/v1', kind: 'ReplicaSet' })];
    world.put(replicaSetResource, replicaSet('set', 1));
    put(map('a', by('set')), map('b', by('gone')));
    for (const name of ['a', 'b']) await reconcile(map(name));
    assert.deepEqual(left(), ['a']);
  });

  it('is not deleted if it has changed since the decision', async () => {
    put(map('a', [owned('gone')]));
    world.store(configMapResource, map('a', [], { resourceVersion: '2' }));
    await assert.rejects(reconcile(map('a')), /another by now/);
    assert.deepEqual(left(), ['a']);
  });

  it('keeps references to existing owners and loses the others', async () => {
    put(map('here'), map('a', [owned('gone'), owned('here'), owned('going')]), map('going', [], waiting));
    await reconcile(map('a'));
    assert.deepEqual(ownersOf('a'), ['uid-here']);
  });

  it('whose owner is deleted in the foreground is deleted in the foreground too', async () => {
    put(map('going', [], waiting), map('a', [owned('going')]), map('child', [owned('a')]));
    await reconcile(map('a'));
    const { metadata } = world.stored(configMapResource, 'default/a') ?? {};
    assert.deepEqual([metadata?.deletionTimestamp, metadata?.finalizers], [at(0), ['foregroundDeletion']]);
  });

  it('without owners and finalizers causes no request', async () => {
    put(map('alone'));
    await reconcile(map('alone'));
    assert.deepEqual(world.asked, []);
  });
});

describe('a deleted object', () => {
  it('with very many dependents does not block other work while they are deleted', async () => {
    put(...Array.from({ length: 1_000 }, (_, index) => map(`child-${index}`, [owned('gone')])));
    const most = await world.maxAskedInOneTurn(() => reconcile(map('gone')));
    assert.deepEqual(left(), []);
    assert.ok(most <= 100, `${most} requests in one turn of the event loop`);
  });

  it('retries dependents that cannot be deleted, and loses the others', async () => {
    put(...Array.from({ length: 100 }, (_, index) => map(`child-${index}`, [owned('gone')])));
    world.refuse = (verb, name) =>
      verb === 'delete' && name === 'child-7' ? newInternalError('no') : undefined;
    await assert.rejects(reconcile(map('gone')), /no/);
    assert.deepEqual(left(), ['child-7']);
  });

  it('loses its dependents; one that cannot be deleted does not delay the others', async () => {
    put(
      map('a', [owned('gone')]),
      map('b', [owned('gone')]),
      map('c', [owned('gone')]),
      map('d', [owned('other')]),
    );
    world.refuse = (verb, name) => (verb === 'delete' && name === 'b' ? newInternalError('no') : undefined);
    await assert.rejects(reconcile(map('gone')), /no/);
    assert.deepEqual(left(), ['b', 'd']);
    assert.equal(
      world.asked.filter((request) => request.startsWith('get')).length,
      1,
      'the owner is read once',
    );
  });

  it('is not considered missing because of a reference to the wrong namespace', async () => {
    const elsewhere = map('stray', [owned('late')], { namespace: 'elsewhere' });
    world.store(configMapResource, map('late'));
    put(elsewhere, map('a', [owned('late')]));
    await reconcile(map('late'));
    assert.deepEqual(left(), ['a', 'late']);
  });

  it('causes no deletion of dependents if the cache has another object with its name', async () => {
    put(map('late', [], { uid: 'another' }), map('a', [owned('late', { uid: 'another' })]));
    await reconcile(map('late'));
    assert.deepEqual(left(), ['a', 'late']);
  });

  it('is ignored if its kind is not collected', async () => {
    put(map('a', [owned('gone')]));
    assert.equal(await world.reconcile(packKey('Widget.example.com', 'uid-gone', 'default/gone')), undefined);
    assert.deepEqual(left(), ['a']);
  });
});

describe('an object that is being deleted', () => {
  it('deletes the dependents that block it, and waits for those that are being deleted', async () => {
    const leaving = map('leaving', [owned('going')], {
      deletionTimestamp: at(1),
      finalizers: ['example.com/mine'],
    });
    put(map('going', [], waiting), map('a', [owned('going')]), leaving);
    await reconcile(map('going'));
    assert.deepEqual(left(), ['going', 'leaving']);
    assert.deepEqual(world.stored(configMapResource, 'default/leaving'), leaving);
    assert.deepEqual(
      world.stored(configMapResource, 'default/going')?.metadata.finalizers,
      waiting.finalizers,
    );
  });

  it('is deleted at once if no dependent blocks it, and keeps the finalizers of other controllers', async () => {
    put(map('going', [], waiting), map('a', [owned('going', { blockOwnerDeletion: false })]));
    await reconcile(map('going'));
    assert.deepEqual(world.stored(configMapResource, 'default/going')?.metadata.finalizers, [
      'example.com/mine',
    ]);
    assert.deepEqual(left(), ['a', 'going']);
  });

  it('ignores dependents in other namespaces', async () => {
    const foreign = map('b', [owned('a')], { namespace: 'other', finalizers: ['example.com/mine'] });
    put(map('a', [], { deletionTimestamp: at(1), finalizers: ['foregroundDeletion'] }), foreign);
    await reconcile(map('a'));
    assert.deepEqual(left(), ['b']);
    const node1 = node('n1');
    node1.metadata.deletionTimestamp = at(1);
    node1.metadata.finalizers = ['foregroundDeletion'];
    world.put(nodeResource, node1);
    put(map('of-node', [owned('n1', { kind: 'Node' })], { finalizers: ['example.com/mine'] }));
    await reconcile(node1, nodeResource);
    assert.deepEqual(world.names(nodeResource), ['n1'], 'what has no namespace owns in all of them');
  });

  it('releases the dependents that it orphans, and is then deleted', async () => {
    const going = { deletionTimestamp: at(1), finalizers: ['orphan'] };
    put(map('going', [], going), map('a', [owned('going'), owned('here')]), map('here'));
    await reconcile(map('going'));
    assert.deepEqual(ownersOf('a'), ['uid-here']);
    assert.deepEqual(left(), ['a', 'here']);
  });

  it('stays with its finalizer while a dependent cannot be released', async () => {
    const going = { deletionTimestamp: at(1), finalizers: ['orphan'] };
    put(map('going', [], going), map('a', [owned('going')]));
    world.refuse = (verb, name) => (verb === 'update' && name === 'a' ? newInternalError('no') : undefined);
    await assert.rejects(reconcile(map('going')), /no/);
    assert.deepEqual(left(), ['a', 'going']);
  });

  it('does not block the deletion of an owner that in turn blocks it', async () => {
    put(map('a', [owned('b'), owned('here')], waiting), map('b', [owned('a')], waiting), map('here'));
    await reconcile(map('a'));
    const references = world.stored(configMapResource, 'default/a')?.metadata.ownerReferences;
    assert.deepEqual(
      references?.map(({ uid, blockOwnerDeletion }) => [uid, blockOwnerDeletion]),
      [
        ['uid-b', false],
        ['uid-here', true],
      ],
    );
  });
});

describe('the objects that are reconciled again', () => {
  it('include a changed object, and an owner that waits for it', () => {
    const cluster = node('n1');
    Object.assign(cluster.metadata, waiting);
    world.put(nodeResource, cluster);
    put(map('going', [], waiting), map('here'));
    const own = (name: string) => packKey('ConfigMap.', `uid-${name}`, `default/${name}`);
    const keys = (...owners: OwnerReference[]) => world.keysOf(configMapResource, map('a', owners));
    assert.deepEqual(keys(), [own('a')]);
    assert.deepEqual(keys(owned('here'), owned('gone'), owned('x', { kind: 'Widget' })), [own('a')]);
    assert.deepEqual(keys(owned('going')), [own('a'), own('going')]);
    assert.deepEqual(keys(owned('n1', { kind: 'Node' })), [own('a'), packKey('Node.', 'uid-n1', 'n1')]);
  });
  it('include no Events', () => {
    assert.deepEqual(world.keysOf({ kind: 'Event' } as ResourceRef, map('a')), []);
  });
});
