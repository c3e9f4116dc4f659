/** Changes that requeue keys of the binder, and its actions while its caches lag behind its writes. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { storageClassResource } from '../../../../src/api/storage/v1/storage-class.ts';
import { persistentVolumeBinder } from '../../../../src/controllers/volumes/persistent-volume-binder.ts';
import { WrittenVolumes } from '../../../../src/controllers/volumes/written-volumes.ts';
import { at, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, referenceTo, storageClass, volume } from './objects.ts';

const completed = { 'pv.kubernetes.io/bind-completed': 'yes' };
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(persistentVolumeBinder);
});
const putVolume = (...all: PersistentVolume[]) => {
  for (const one of all) world.put(persistentVolumeResource, one);
};
const putClaim = (...all: PersistentVolumeClaim[]) => {
  for (const one of all) world.put(persistentVolumeClaimResource, one);
};
const claimNow = (name = 'c') => world.stored(persistentVolumeClaimResource, `default/${name}`);
const volumeNow = (name = 'v') => world.stored(persistentVolumeResource, name);
const bound = (name = 'c', of = 'v') =>
  claim(name, {
    metadata: { annotations: completed },
    spec: { volumeName: of },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  });

describe('the binder reconciles', () => {
  const ofClaim = (one: PersistentVolumeClaim) => world.keysOf(persistentVolumeClaimResource, one);
  const ofVolume = (one: PersistentVolume) => world.keysOf(persistentVolumeResource, one);

  it('after a change of a claim the claim, the volumes that are bound to it, and the waiting claims of its class', () => {
    assert.deepEqual(ofClaim(claim('c')), ['default/c']);
    assert.deepEqual(ofClaim(bound()), ['default/c', 'v', 'class ']);
    // The claim may be removed or get another volume: the volume that is reserved for it must be reconciled.
    putVolume(volume('kept', { spec: { claimRef: referenceTo('c', '') } }));
    assert.deepEqual(ofClaim(claim('c')), ['default/c', 'kept']);
    const half = claim('c', { spec: { volumeName: 'v' } });
    assert.deepEqual(ofClaim(half), ['default/c', 'v', 'kept']);
  });

  it('after a change of a volume the volume, its claim, the claims that name it, and the waiting claims of its class', () => {
    assert.deepEqual(ofVolume(volume('v')), ['v', 'class ']);
    assert.deepEqual(ofVolume(volume('v', { status: { phase: 'Released' } })), ['v']);
    const own = volume('v', { spec: { claimRef: referenceTo('c') }, status: { phase: 'Available' } });
    assert.deepEqual(ofVolume(own), ['v', 'default/c']);
    putClaim(claim('d', { spec: { volumeName: 'v' } }));
    assert.deepEqual(ofVolume(own), ['v', 'default/c', 'default/d']);
  });

  it('after a change of a class its waiting claims, and claims without a class for which it may become the default', () => {
    const { storageClassName: _, ...none } = claim('old').spec;
    putClaim(
      claim('c', { spec: { storageClassName: 'fast' } }),
      claim('other', { spec: { storageClassName: 'slow' } }),
      claim('bare'),
      { ...claim('old'), spec: none },
      { ...bound('b'), spec: { ...bound('b').spec, storageClassName: 'fast' } },
    );
    assert.deepEqual(world.keysOf(storageClassResource, storageClass('fast')), ['default/c', 'default/old']);
  });
});

describe('a volume that is free', () => {
  const woken = async (key: string) => {
    await world.reconcile(key);
    return world.enqueued;
  };

  it('causes no reconciliation of claims whose class waits for pods, because the scheduler chooses', async () => {
    world.put(storageClassResource, storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' }));
    const spec = { storageClassName: 'late' };
    putVolume(volume('v', { spec }));
    putClaim(claim('c', { spec }));
    assert.deepEqual(await woken('class late'), []);
    world.put(storageClassResource, storageClass('late'));
    assert.deepEqual(await woken('class late'), ['default/c']);
  });

  it('causes no reconciliation of claims without a class if the volume has a class', async () => {
    const { storageClassName: _, ...none } = claim('old').spec;
    putClaim({ ...claim('old'), spec: none });
    putVolume(volume('v', { spec: { storageClassName: 'fast' } }));
    assert.deepEqual(await woken('class fast'), []);
  });

  it('causes no reconciliation of claims for which it is unsuitable', async () => {
    putVolume(volume('v'), volume('tiny', { spec: { capacity: { storage: '1' } } }));
    putClaim(claim('c'), claim('d'));
    assert.deepEqual(await woken('class '), ['default/c']);
  });

  it('causes a reconciliation of one claim for each available volume, and of none that is being deleted or names another volume', async () => {
    putVolume(volume('v'), volume('reserved', { spec: { claimRef: referenceTo('x', '') } }));
    putClaim(
      claim('going', { metadata: { deletionTimestamp: at(1), finalizers: ['x'] } }),
      claim('named', { spec: { volumeName: 'w' } }),
      claim('c'),
      claim('d'),
    );
    assert.deepEqual(await woken('class '), ['default/c']);
  });
});

describe('a claim', () => {
  it('that is deleted before it is bound gets no volume', async () => {
    putVolume(volume('v'));
    putClaim(claim('c', { metadata: { deletionTimestamp: at(1), finalizers: ['x'] } }));
    await world.reconcile('default/c');
    await world.reconcile('default/gone');
    assert.deepEqual([world.asked, volumeNow()?.spec.claimRef], [[], undefined]);
  });

  it('that is deleted while it is bound stays bound', async () => {
    putVolume(volume('v', { spec: { claimRef: referenceTo('c') }, status: { phase: 'Available' } }));
    const { metadata, ...one } = bound();
    putClaim({ ...one, metadata: { ...metadata, deletionTimestamp: at(1), finalizers: ['x'] } });
    await world.reconcile('default/c');
    assert.equal(volumeNow()?.status?.phase, 'Bound');
  });

  it('has an event that names its waiting pods, without pods that have a node or are deleted', async () => {
    world.put(storageClassResource, storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' }));
    putClaim(claim('c', { spec: { storageClassName: 'late' } }));
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }];
    const waiting = { volumes, nodeName: undefined };
    world.put(podResource, pod('placed', { spec: { volumes } }));
    world.put(podResource, pod('going', { spec: waiting, metadata: { deletionTimestamp: at(1) } }));
    world.put(podResource, pod('p', { spec: waiting }));
    await world.reconcile('default/c');
    assert.match(world.told.join(), /^Normal WaitForPodScheduled c: waiting for pod p to be scheduled$/);
  });

  it('keeps its assigned volume, even if the cache shows that volume as free', async () => {
    putVolume(volume('v'));
    putClaim(claim('c'));
    world.refuse = (verb, name) =>
      verb === 'updateStatus' && name === 'c' ? new Error('cut off') : undefined;
    await assert.rejects(world.reconcile('default/c'), /cut off/);
    world.refuse = () => undefined;
    world.sync(persistentVolumeClaimResource);
    const before = world.asked.length;
    assert.equal(await world.reconcile('default/c'), undefined);
    assert.deepEqual(world.asked.slice(before), ['updateStatus PersistentVolumeClaim c']);
    assert.equal(claimNow()?.status?.phase, 'Bound');
  });

  it('does not get a volume that is just being bound to another claim', async () => {
    putVolume(volume('v'));
    putClaim(claim('c'), claim('d'));
    const results = await Promise.all(['default/c', 'default/d'].map(world.reconcile));
    assert.deepEqual(results, [undefined, undefined]);
    assert.deepEqual([claimNow('c')?.status?.phase, claimNow('d')?.status?.phase], ['Bound', 'Pending']);
  });

  it('is Pending after the first reconciliation', async () => {
    const { status: _, ...one } = claim('c');
    putClaim(one);
    await world.reconcile('default/c');
    assert.deepEqual(claimNow()?.status, { phase: 'Pending' });
  });

  it('names a volume itself, which is not annotated as bound by the controller', async () => {
    putVolume(volume('v'));
    putClaim(claim('c', { spec: { volumeName: 'v' } }));
    await world.reconcile('default/c');
    assert.deepEqual(claimNow()?.metadata.annotations, completed);
    assert.equal(claimNow()?.spec.resources.requests?.storage, '1Gi');
  });

  it('is bound, and keeps its other annotations and conditions', async () => {
    putVolume(volume('v'));
    const conditions = [{ type: 'Resizing', status: 'True' as const }];
    putClaim(claim('c', { metadata: { annotations: { note: 'mine' } }, status: { conditions } }));
    await world.reconcile('default/c');
    assert.equal(claimNow()?.metadata.annotations?.note, 'mine');
    assert.deepEqual(claimNow()?.status?.conditions, conditions);
  });

  it('that is bound again has the current data of its volume', async () => {
    const { metadata, spec } = bound();
    putVolume(volume('v', { spec: { claimRef: referenceTo('c'), capacity: { storage: '5Gi' } } }));
    putClaim({ ...claim('c'), metadata, spec, status: { phase: 'Lost', capacity: { storage: '1Gi' } } });
    await world.reconcile('default/c');
    assert.deepEqual(claimNow()?.status?.capacity, { storage: '5Gi' });
  });

  it('has one event when it is lost', async () => {
    putClaim(bound());
    for (let time = 0; time < 2; time++) {
      await world.reconcile('default/c');
      world.sync(persistentVolumeClaimResource);
    }
    assert.deepEqual([world.told.length, claimNow()?.status], [1, { phase: 'Lost' }]);
  });

  it('is marked for provisioning only once', async () => {
    world.put(storageClassResource, storageClass('fast'));
    putClaim(claim('c', { spec: { storageClassName: 'fast' } }));
    await world.reconcile('default/c');
    world.sync(persistentVolumeClaimResource);
    const before = world.asked.length;
    await world.reconcile('default/c');
    assert.deepEqual(world.asked.slice(before), []);
  });

  it('gets no default class if it names its volume', async () => {
    const { storageClassName: _, ...none } = claim('c').spec;
    const made = storageClass('fast');
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    world.put(storageClassResource, { ...made, metadata: { ...made.metadata, annotations } });
    putVolume(volume('v'));
    putClaim({ ...claim('c'), spec: { ...none, volumeName: 'v' } });
    await world.reconcile('default/c');
    assert.deepEqual([claimNow()?.spec.storageClassName, claimNow()?.status?.phase], [undefined, 'Bound']);
  });
});

describe('a volume', () => {
  it('loses only the reason and message of its status when it is bound', async () => {
    const status = { phase: 'Released', message: 'no', reason: 'Emptied', lastPhaseTransitionTime: at(1) };
    putVolume(volume('v', { spec: { claimRef: referenceTo('c') }, status }));
    putClaim(bound());
    await world.reconcile('v');
    assert.deepEqual(volumeNow()?.status, { phase: 'Bound', lastPhaseTransitionTime: at(1) });
  });

  it('that is bound loses the message of an earlier failure', async () => {
    const status = { phase: 'Bound', message: 'it failed' };
    putVolume(volume('v', { spec: { claimRef: referenceTo('c') }, status }));
    putClaim(bound());
    await world.reconcile('v');
    assert.deepEqual(volumeNow()?.status, { phase: 'Bound' });
  });

  it('has the reason in its status if its removal fails', async () => {
    const spec = { persistentVolumeReclaimPolicy: 'Delete' as const, claimRef: referenceTo('c') };
    putVolume(volume('v', { spec, status: { phase: 'Released' } }));
    await world.reconcile('v');
    assert.match(volumeNow()?.status?.message ?? '', /no deletable volume plugin matched$/);
  });

  it('causes an event on itself and its claim if their volumeModes differ', async () => {
    putVolume(volume('v', { spec: { claimRef: referenceTo('c'), volumeMode: 'Block' } }));
    putClaim(claim('c'));
    await world.reconcile('v');
    const why = 'due to incompatible volumeMode.';
    assert.deepEqual(world.told, [
      `Warning VolumeMismatch v: Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" ${why}`,
      `Warning VolumeMismatch c: Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim ${why}`,
    ]);
    // A claim that is not in the cache gets no events.
    world.seen.remove(persistentVolumeClaimResource, 'default/c');
    await world.reconcile('v');
    assert.equal(world.told.length, 3);
  });

  it('is not released for another claim of the name that the cache shows', async () => {
    putVolume(volume('v', { spec: { claimRef: referenceTo('c') }, status: { phase: 'Bound' } }));
    world.store(persistentVolumeClaimResource, bound());
    world.seen.put(persistentVolumeClaimResource, claim('c', { metadata: { uid: 'earlier' } }));
    await world.reconcile('v');
    assert.equal(volumeNow()?.status?.phase, 'Bound');
    world.store(persistentVolumeClaimResource, claim('c', { metadata: { uid: 'later' } }));
    await world.reconcile('v');
    assert.equal(volumeNow()?.status?.phase, 'Released');
  });

  it('causes no read of its claim if the cache has it', async () => {
    putVolume(volume('v', { spec: { claimRef: referenceTo('c') }, status: { phase: 'Bound' } }));
    putClaim(bound());
    await world.reconcile('v');
    await world.reconcile('gone');
    assert.deepEqual(world.asked, []);
  });
});

describe('recently written volumes', () => {
  const of = (resourceVersion: string, uid = 'uid-v') => volume('v', { metadata: { resourceVersion, uid } });
  const hold = (written: WrittenVolumes, one: PersistentVolume) => written.hold('v', async () => one);

  it('is used until the cache has the same version, also if the version numbers have become longer', async () => {
    const written = new WrittenVolumes();
    await hold(written, of('10'));
    assert.equal(written.latest(of('9'))?.metadata.resourceVersion, '10');
    assert.equal(written.latest(of('10', 'uid-v'))?.metadata.resourceVersion, '10');
    assert.equal(written.latest(of('9'))?.metadata.resourceVersion, '9', 'it was shown before');
  });

  it('are not used for a volume that was created again or deleted', async () => {
    const written = new WrittenVolumes();
    await hold(written, of('10'));
    assert.equal(written.latest(of('9', 'other'))?.metadata.uid, 'other');
    await hold(written, of('10'));
    written.forget('v');
    assert.equal(written.latest(of('9'))?.metadata.resourceVersion, '9');
  });

  it('are unavailable while they are written', async () => {
    const written = new WrittenVolumes();
    const { promise, resolve } = Promise.withResolvers<PersistentVolume>();
    const held = written.hold('v', () => promise);
    assert.equal(written.latest(of('9')), undefined);
    resolve(of('10'));
    await held;
    assert.ok(written.latest(of('9')));
  });
});
