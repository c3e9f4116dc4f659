/** Who keeps a claim or a volume that is deleted, and which claims are made for pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { persistentVolumeResource } from '../../../../src/api/core/v1/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/persistent-volume-claim.ts';
import { podResource } from '../../../../src/api/core/v1/pod.ts';
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
    ['nobody uses', undefined, false],
    ['a pod uses', pod('p', { spec: { volumes } }), true],
    ['a pod that has ended uses', pod('p', { spec: { volumes }, phase: 'Succeeded' }), true],
    ['a pod without a node uses', pod('p', { spec: { volumes, nodeName: undefined } }), false],
    ['a pod of another namespace uses', pod('p', { spec: { volumes }, metadata: { namespace: 'x' } }), false],
    ['a pod uses of which the cache does not know', 'unseen', true],
  ] as const)
    it(`that ${what} stays: ${stays}`, async () => {
      const world = new ScriptedWorld(pvcProtectionController);
      world.put(persistentVolumeClaimResource, going);
      if (user === 'unseen') world.store(podResource, pod('p', { spec: { volumes } }));
      else if (user) world.put(podResource, user);
      await world.reconcile('default/c');
      assert.equal(world.stored(persistentVolumeClaimResource, 'default/c') !== undefined, stays);
    });
  it('among many asks the server with all of them, and after it is deleted', async () => {
    const world = new ScriptedWorld(pvcProtectionController);
    const names = Array.from({ length: 100 }, (_, n) => `c${n}`);
    for (const name of names)
      world.put(persistentVolumeClaimResource, claim(name, { metadata: { ...ofClaim, deletionTimestamp } }));
    const first = world.reconcile('default/c0');
    while (!world.asked.includes('list Pod')) await Promise.resolve();
    // What is known since the first question was asked does not say that nobody uses these.
    const used = { name: 'v', persistentVolumeClaim: { claimName: 'c7' } };
    world.store(podResource, pod('p', { spec: { volumes: [used] } }));
    await Promise.all([first, ...names.slice(1).map((name) => world.reconcile(`default/${name}`))]);
    assert.deepEqual(world.names(persistentVolumeClaimResource), ['c7']);
    assert.equal(world.asked.filter((one) => one === 'list Pod').length, 2);
  });
  it('that is of a pod alone goes when its node is done with that', async () => {
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
    world.put(podResource, pod('p', { spec: { volumes: ephemeral }, metadata }));
    await world.reconcile('default/p-v');
    assert.equal(world.stored(persistentVolumeClaimResource, 'default/p-v'), undefined);
  });
});

describe('a volume that is deleted', () => {
  for (const phase of ['Bound', 'Available', 'Released', 'Failed'])
    it(`stays while it is bound: ${phase}`, async () => {
      const world = new ScriptedWorld(pvProtectionController);
      const metadata = { finalizers: ['kubernetes.io/pv-protection'], deletionTimestamp };
      world.put(persistentVolumeResource, volume('v', { metadata, status: { phase } }));
      await world.reconcile('v');
      assert.equal(world.stored(persistentVolumeResource, 'v') !== undefined, phase === 'Bound');
    });
  it('is protected also when it is older than that', async () => {
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
  it('gets a claim that the pod owns, once', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    await world.reconcile('default/p');
    await world.reconcile('default/p');
    const [made, ...others] = world.all(persistentVolumeClaimResource);
    assert.deepEqual([made?.metadata.name, made?.metadata.ownerReferences?.[0]?.uid], ['p-v', 'uid-p']);
    assert.deepEqual(others, []);
  });
  it('does not get the claim of somebody else', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral } }));
    world.put(persistentVolumeClaimResource, claim('p-v'));
    await assert.rejects(world.reconcile('default/p'), /pod is not owner/);
  });
  it('gets none when the pod goes', async () => {
    const world = new ScriptedWorld(ephemeralVolumeController);
    world.put(podResource, pod('p', { spec: { volumes: ephemeral }, metadata: { deletionTimestamp } }));
    await world.reconcile('default/p');
    assert.deepEqual(world.all(persistentVolumeClaimResource), []);
  });
});
