/** Finalizers that keep a deleted claim or volume, and claims that are created for pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newConflict, newForbidden, newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { ephemeralVolumeController } from '../../../../src/controllers/volumes/ephemeral-volume.ts';
import { pvProtectionController } from '../../../../src/controllers/volumes/pv-protection.ts';
import { pvcProtectionController } from '../../../../src/controllers/volumes/pvc-protection.ts';
import { at, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, volume } from './objects.ts';

const deletionTimestamp = at(9);
const ofClaim = { finalizers: ['kubernetes.io/pvc-protection'] };
const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
const template = { volumeClaimTemplate: { spec: claim('x').spec } };
const ephemeral = [{ name: 'v', ephemeral: template }];

describe('a claim that is deleted', () => {
  const going = claim('c', { metadata: { ...ofClaim, deletionTimestamp } });
  for (const [what, user, stays] of [
    ['that no pod uses', undefined, false],
    ['a pod uses', pod('p', { spec: { volumes } }), true],
    ['that a completed pod uses', pod('p', { spec: { volumes }, phase: 'Succeeded' }), true],
    ['that a pod without a node uses', pod('p', { spec: { volumes, nodeName: undefined } }), false],
    [
      'whose name a pod of another namespace uses',
      pod('p', { spec: { volumes }, metadata: { namespace: 'x' } }),
      false,
    ],
    ['that a pod uses which is not in the cache', 'unseen', true],
    [
      'that a pod uses beside other claims',
      pod('p', { spec: { volumes: [{ name: 'w', emptyDir: {} }, ...volumes] } }),
      true,
    ],
    [
      'while a pod uses another claim',
      pod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }] } }),
      false,
    ],
    ['while a pod has no volumes', pod('p', { spec: { volumes: undefined } }), false],
    [
      'that a pod used whose node ended it at once',
      pod('p', { spec: { volumes }, metadata: { deletionTimestamp, deletionGracePeriodSeconds: 0 } }),
      true,
    ],
  ] as const)
    it(`${what} ${stays ? 'is kept' : 'is released'}`, async () => {
      const world = new ScriptedWorld(pvcProtectionController);
      world.put(persistentVolumeClaimResource, going);
      if (user === 'unseen') world.store(podResource, pod('p', { spec: { volumes } }));
      else if (user) world.put(podResource, user);
      await world.reconcile('default/c');
      assert.equal(world.stored(persistentVolumeClaimResource, 'default/c') !== undefined, stays);
    });
  it('shares a list of pods, requested after its deletion, with many other claims', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    const names = Array.from({ length: 100 }, (_, n) => `c${n}`);
    for (const name of names)
      world.put(persistentVolumeClaimResource, claim(name, { metadata: { ...ofClaim, deletionTimestamp } }));
    const first = world.reconcile('default/c0');
    while (!world.asked.includes('list Pod')) await Promise.resolve();
    // The list for the first claim is too old to show that no pod uses these claims.
    const used = { name: 'v', persistentVolumeClaim: { claimName: 'c7' } };
    world.store(podResource, pod('p', { spec: { volumes: [used] } }));
    await Promise.all([first, ...names.slice(1).map((name) => world.reconcile(`default/${name}`))]);
    assert.deepEqual(world.names(persistentVolumeClaimResource), ['c7']);
    assert.equal(world.asked.filter((one) => one === 'list Pod').length, 2);
  });
  it('causes no list of pods if the cache shows a user', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    world.put(persistentVolumeClaimResource, going);
    world.put(podResource, pod('p', { spec: { volumes } }));
    await world.reconcile('default/c');
    assert.deepEqual(world.asked, []);
  });
  it('is reconciled for its own changes and for the pods that use it', () => {
    const world = new ScriptedWorld(pvcProtectionController);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, going), ['default/c']);
    assert.deepEqual(world.keysOf(podResource, pod('p', { spec: { volumes } })), ['default/c']);
    assert.deepEqual(world.keysOf(podResource, pod('p', { spec: { volumes: ephemeral } })), ['default/p-v']);
    assert.deepEqual(world.keysOf(podResource, pod('p')), []);
  });
  it('is also kept if several pods may use it and one does', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    world.put(persistentVolumeClaimResource, going);
    world.store(podResource, pod('a', { spec: { volumes, nodeName: undefined } }));
    world.store(podResource, pod('b', { spec: { volumes } }));
    await world.reconcile('default/c');
    assert.ok(world.stored(persistentVolumeClaimResource, 'default/c'));
  });
  it('is not used by a pod that has a generated claim with the same name', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    world.put(persistentVolumeClaimResource, claim('p-v', { metadata: { ...ofClaim, deletionTimestamp } }));
    world.put(podResource, pod('p', { spec: { volumes: [...volumes, ...ephemeral] } }));
    await world.reconcile('default/p-v');
    assert.equal(world.stored(persistentVolumeClaimResource, 'default/p-v'), undefined);
  });
  it('loses its protection and no other finalizer, and a claim without one is unchanged', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    const finalizers = ['example.com/f', ...ofClaim.finalizers];
    world.put(persistentVolumeClaimResource, claim('c', { metadata: { finalizers, deletionTimestamp } }));
    await world.reconcile('default/c');
    const left = world.stored(persistentVolumeClaimResource, 'default/c');
    assert.deepEqual(left?.metadata.finalizers, ['example.com/f']);
    world.sync(persistentVolumeClaimResource);
    const { length } = world.asked;
    await world.reconcile('default/c');
    await world.reconcile('default/gone');
    assert.deepEqual(world.asked.slice(length), []);
  });
  it('is protected before its deletion, also if it was created before admission protected claims', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    world.put(persistentVolumeClaimResource, claim('c'));
    world.put(persistentVolumeClaimResource, claim('d', { metadata: ofClaim }));
    await world.reconcile('default/c');
    await world.reconcile('default/d');
    const finalizers = world.stored(persistentVolumeClaimResource, 'default/c')?.metadata.finalizers;
    assert.deepEqual(finalizers, ofClaim.finalizers);
    assert.deepEqual(world.asked, ['update PersistentVolumeClaim c']);
  });
  it('is retried if the server does not answer, and other claims are not delayed', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    world.put(persistentVolumeClaimResource, going);
    world.refuse = (verb) => (verb === 'update' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('default/c'), /no/);
    world.refuse = (verb) =>
      verb === 'update' ? newConflict(persistentVolumeClaimResource, 'c', 'it has changed') : undefined;
    await world.reconcile('default/c');
    world.refuse = () => undefined;
    await world.reconcile('default/c');
    assert.equal(world.stored(persistentVolumeClaimResource, 'default/c'), undefined);
  });
  it('is deleted with its pod when the node has finished', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }];
    world.put(
      persistentVolumeClaimResource,
      claim('p-v', { metadata: { ...ofClaim, deletionTimestamp, ownerReferences } }),
    );
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    await world.reconcile('default/p-v');
    assert.ok(world.stored(persistentVolumeClaimResource, 'default/p-v'));
    const metadata = { deletionTimestamp, deletionGracePeriodSeconds: 0 };
    for (const still of [
      { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 } },
      { metadata: { deletionGracePeriodSeconds: 0 } },
    ]) {
      world.put(podResource, pod('p', { spec: { volumes: ephemeral }, ...still }));
      await world.reconcile('default/p-v');
      assert.ok(world.stored(persistentVolumeClaimResource, 'default/p-v'));
    }
    world.put(podResource, pod('p', { spec: { volumes: ephemeral }, metadata }));
    await world.reconcile('default/p-v');
    assert.equal(world.stored(persistentVolumeClaimResource, 'default/p-v'), undefined);
  });
});

describe('a volume that is deleted', () => {
  for (const phase of ['Bound', 'Available', 'Released', 'Failed'])
    it(`is kept while it is bound, in the phase ${phase}`, async () => {
      const world = new ScriptedWorld(pvProtectionController);
      const metadata = { finalizers: ['kubernetes.io/pv-protection'], deletionTimestamp };
      world.put(persistentVolumeResource, volume('v', { metadata, status: { phase } }));
      await world.reconcile('v');
      assert.equal(world.stored(persistentVolumeResource, 'v') !== undefined, phase === 'Bound');
    });
  it('is reconciled for its own changes', () => {
    const world = new ScriptedWorld(pvProtectionController);
    assert.deepEqual(world.keysOf(persistentVolumeResource, volume('v')), ['v']);
  });
  it('loses its protection once', async () => {
    const world = new ScriptedWorld(pvProtectionController);
    const finalizers = ['kubernetes.io/pv-protection', 'minik8s.io/folder'];
    world.put(persistentVolumeResource, volume('v', { metadata: { finalizers, deletionTimestamp } }));
    for (const name of ['v', 'v', 'gone']) {
      await world.reconcile(name);
      world.sync(persistentVolumeResource);
    }
    assert.deepEqual(world.stored(persistentVolumeResource, 'v')?.metadata.finalizers, ['minik8s.io/folder']);
    assert.deepEqual(world.asked, ['update PersistentVolume v']);
  });
  it('is also protected if it was created before admission protected volumes', async () => {
    const world = new ScriptedWorld(pvProtectionController);
    world.put(persistentVolumeResource, volume('v'));
    await world.reconcile('v');
    world.sync(persistentVolumeResource);
    await world.reconcile('v');
    assert.deepEqual(world.stored(persistentVolumeResource, 'v')?.metadata.finalizers, [
      'kubernetes.io/pv-protection',
    ]);
  });
});

describe('an ephemeral volume', () => {
  it('gets one claim, which the pod owns', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    await world.reconcile('default/p');
    await world.reconcile('default/p');
    const [made, ...others] = world.all(persistentVolumeClaimResource);
    assert.deepEqual([made?.metadata.name, made?.metadata.ownerReferences?.[0]?.uid], ['p-v', 'uid-p']);
    assert.deepEqual(
      [made?.apiVersion, made?.kind, made?.spec],
      ['v1', 'PersistentVolumeClaim', claim('x').spec],
    );
    assert.ok(made && !('labels' in made.metadata) && !('annotations' in made.metadata));
    assert.deepEqual(others, []);
    world.sync(persistentVolumeClaimResource);
    const { length } = world.asked;
    await world.reconcile('default/p');
    assert.deepEqual([world.asked.length, world.told], [length, []]);
  });
  it('gets a claim from its template; other volumes of the pod get none', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    const metadata = { labels: { tier: 'gold' }, annotations: { note: 'n' } };
    const mixed = [
      ...volumes,
      { name: 'w', emptyDir: {} },
      { name: 'e', ephemeral: { volumeClaimTemplate: { ...template.volumeClaimTemplate, metadata } } },
    ] as unknown as typeof ephemeral;
    world.put(podResource, pod('p', { spec: { volumes: mixed } }));
    world.put(podResource, pod('bare', { spec: { volumes: undefined } }));
    // A claim of another owner with the name that the pod refers to.
    world.seen.put(persistentVolumeClaimResource, claim('c'));
    for (const name of ['p', 'bare', 'gone']) await world.reconcile(`default/${name}`);
    const [made, ...others] = world.all(persistentVolumeClaimResource);
    assert.deepEqual([made?.metadata.name, others], ['p-e', []]);
    assert.deepEqual([made?.metadata.labels, made?.metadata.annotations], [{ tier: 'gold' }, { note: 'n' }]);
  });
  it('has an event if its claim cannot be created, and is retried unless the namespace terminates', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    world.refuse = (verb) => (verb === 'create' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('default/p'), /no/);
    assert.match(
      world.told.join(),
      /^Warning FailedBinding p: ephemeral volume controller: create PVC p-v: .*no$/,
    );
    const causes = [{ reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' }];
    const ends = newForbidden(persistentVolumeClaimResource, 'p-v', 'it ends', causes);
    world.refuse = (verb) => (verb === 'create' ? ends : undefined);
    await world.reconcile('default/p');
    assert.equal(world.told.length, 1);
  });
  it('is reconciled for changes of its pod and of its claim', () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    const user = world.put(podResource, pod('p', { spec: { volumes: [...volumes, ...ephemeral] } }));
    const plain = world.put(podResource, pod('q', { spec: { volumes } }));
    assert.deepEqual(world.keysOf(podResource, user), ['default/p']);
    assert.deepEqual(world.keysOf(podResource, plain), []);
    assert.deepEqual(world.keysOf(podResource, pod('r')), []);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, claim('p-v')), ['default/p']);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, claim('c')), ['default/p']);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, claim('q-v')), []);
  });
  it('does not get an existing claim of another owner', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    world.put(persistentVolumeClaimResource, claim('p-v'));
    await assert.rejects(world.reconcile('default/p'), /pod is not owner/);
  });
  it('gets no claim when its pod is being deleted', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral }, metadata: { deletionTimestamp } }));
    await world.reconcile('default/p');
    assert.deepEqual(world.all(persistentVolumeClaimResource), []);
  });
});
