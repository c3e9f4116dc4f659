/** Claims and volumes that are bound, lost, released and free again. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { storageClassResource } from '../../../../src/api/storage/v1/storage-class.ts';
import { newConflict } from '../../../../src/apimachinery/status-error.ts';
import { persistentVolumeBinder } from '../../../../src/controllers/volumes/persistent-volume-binder.ts';
import { pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, referenceTo, storageClass, volume } from './objects.ts';

const boundBy = 'pv.kubernetes.io/bound-by-controller';
const completed = 'pv.kubernetes.io/bind-completed';

describe('the binder', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(persistentVolumeBinder);
  });
  const put = (...objects: (PersistentVolume | PersistentVolumeClaim)[]) => {
    for (const one of objects)
      if (one.kind === 'PersistentVolume') world.put(persistentVolumeResource, one as PersistentVolume);
      else world.put(persistentVolumeClaimResource, one as PersistentVolumeClaim);
  };
  const claimNow = (name = 'c') => world.stored(persistentVolumeClaimResource, `default/${name}`);
  const volumeNow = (name = 'v') => world.stored(persistentVolumeResource, name);
  const bound = (name = 'c', of = 'v') =>
    claim(name, {
      metadata: { annotations: { [completed]: 'yes', [boundBy]: 'yes' } },
      spec: { volumeName: of },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    });

  it('binds both sides and sets the capacity', async () => {
    put(volume('v', { spec: { capacity: { storage: '3Gi' } } }), claim('c'));
    await world.reconcile('default/c');
    const { spec, metadata, status } = claimNow() ?? assert.fail();
    assert.equal(spec.volumeName, 'v');
    assert.deepEqual(metadata.annotations, { [boundBy]: 'yes', [completed]: 'yes' });
    assert.deepEqual(status, {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '3Gi' },
    });
    assert.equal(volumeNow()?.spec.claimRef?.uid, 'uid-c');
    assert.equal(volumeNow()?.status?.phase, 'Bound');
  });

  for (const verb of ['update', 'updateStatus'])
    for (const name of ['v', 'c'])
      it(`continues after an interruption: ${verb} of ${name}`, async () => {
        put(volume('v'), claim('c'));
        world.refuse = (asked, of) => (asked === verb && of === name ? new Error('cut off') : undefined);
        await assert.rejects(world.reconcile('default/c'));
        world.refuse = () => undefined;
        // The begun binding does not go to a better volume either.
        put(volume('a'));
        world.sync(persistentVolumeResource);
        world.sync(persistentVolumeClaimResource);
        await world.reconcile('default/c');
        const at = claimNow()?.spec.volumeName ?? '';
        assert.equal(volumeNow(at)?.spec.claimRef?.uid, 'uid-c');
        assert.equal(claimNow()?.status?.phase, 'Bound');
        const taken = world.all(persistentVolumeResource).filter(({ spec }) => spec.claimRef);
        assert.equal(taken.length, 1);
        const before = world.asked.length;
        world.sync(persistentVolumeResource);
        world.sync(persistentVolumeClaimResource);
        await world.reconcile('default/c');
        assert.deepEqual(world.asked.slice(before), []);
      });

  it('retries soon if another writer was faster', async () => {
    put(volume('v'), claim('c'));
    world.refuse = (_, name) =>
      name === 'v' ? newConflict(persistentVolumeResource, 'v', 'it has changed') : undefined;
    assert.deepEqual(await world.reconcile('default/c'), { requeueAfter: 100 });
    assert.equal(claimNow()?.spec.volumeName, undefined);
  });

  for (const [what, mine, volumes, told] of [
    [
      'there is no volume and no class',
      claim('c'),
      [],
      'Normal FailedBinding c: no persistent volumes available for this claim and no storage class is set',
    ],
    [
      'its class does not exist',
      claim('c', { spec: { storageClassName: 'x' } }),
      [],
      'Warning ProvisioningFailed c: storageclass.storage.k8s.io "x" not found',
    ],
    [
      'the requested volume is too small',
      claim('c', { spec: { volumeName: 'v' } }),
      [volume('v', { spec: { capacity: { storage: '1' } } })],
      'Warning VolumeMismatch c: Cannot bind to requested volume "v": requested PV is too small',
    ],
    [
      'the requested volume is bound to another claim',
      claim('c', { spec: { volumeName: 'v' } }),
      [volume('v', { spec: { claimRef: referenceTo('d') } })],
      'Warning FailedBinding c: volume "v" already bound to a different claim.',
    ],
  ] as const)
    it(`leaves a claim pending if ${what}`, async () => {
      put(mine, ...volumes);
      await world.reconcile('default/c');
      assert.equal(claimNow()?.status?.phase, 'Pending');
      assert.deepEqual(world.told, [told]);
      assert.ok(!world.asked.some((asked) => asked.startsWith('update ')));
    });

  it('waits for a volume that does not exist yet', async () => {
    put(claim('c', { spec: { volumeName: 'v' } }));
    await world.reconcile('default/c');
    assert.deepEqual([claimNow()?.status?.phase, world.told], ['Pending', []]);
    const added = volume('v');
    put(added);
    assert.ok(world.keysOf(persistentVolumeResource, added).includes('default/c'));
    await world.reconcile('default/c');
    assert.equal(claimNow()?.status?.phase, 'Bound');
  });

  it('leaves claims of a class with WaitForFirstConsumer to the scheduler', async () => {
    world.put(storageClassResource, storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' }));
    put(
      volume('v', { spec: { storageClassName: 'late' } }),
      claim('c', { spec: { storageClassName: 'late' } }),
    );
    await world.reconcile('default/c');
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }];
    world.put(podResource, pod('p', { spec: { nodeName: undefined, volumes } }));
    await world.reconcile('default/c');
    assert.deepEqual(world.told, [
      'Normal WaitForFirstConsumer c: waiting for first consumer to be created before binding',
      'Normal WaitForPodScheduled c: waiting for pod p to be scheduled',
    ]);
    assert.equal(claimNow()?.status?.phase, 'Pending');
    // The scheduler has chosen a volume.
    put(volume('v', { spec: { storageClassName: 'late', claimRef: referenceTo('c') } }));
    await world.reconcile('default/c');
    assert.equal(claimNow()?.status?.phase, 'Bound');
  });

  it('requests a volume from the provisioner of the class', async () => {
    world.put(storageClassResource, storageClass('fast'));
    put(claim('c', { spec: { storageClassName: 'fast' } }));
    await world.reconcile('default/c');
    assert.equal(
      claimNow()?.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'],
      'example.com/disks',
    );
    assert.match(
      world.told.join(),
      /Normal ExternalProvisioning c: Waiting for a volume to be created either by/,
    );
  });

  it('gives the default class to claims that are older', async () => {
    const { storageClassName: _, ...spec } = claim('c').spec;
    put({ ...claim('c'), spec }, claim('none'));
    await world.reconcile('default/c');
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const made = storageClass('fast');
    const added = { ...made, metadata: { ...made.metadata, annotations } };
    world.put(storageClassResource, added);
    assert.ok(world.keysOf(storageClassResource, added).includes('default/c'));
    await world.reconcile('default/c');
    await world.reconcile('default/none');
    assert.equal(claimNow()?.spec.storageClassName, 'fast');
    assert.equal(claimNow('none')?.spec.storageClassName, '');
  });

  it('reports a claim as lost without its volume, or with another claim’s', async () => {
    put(bound('c'), bound('d', 'w'), volume('w', { spec: { claimRef: referenceTo('e') } }));
    await world.reconcile('default/c');
    await world.reconcile('default/d');
    assert.deepEqual(
      world.all(persistentVolumeClaimResource).map(({ status }) => status),
      [{ phase: 'Lost' }, { phase: 'Lost' }],
    );
    assert.deepEqual(world.told, [
      'Warning ClaimLost c: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      'Warning ClaimMisbound d: Two claims are bound to the same volume, this one is bound incorrectly',
    ]);
  });

  it('does not trust the annotations of a claim: a volume that does not fit is not bound', async () => {
    const says = (phase: 'Pending' | 'Bound') => {
      const { metadata, spec } = bound();
      return claim('c', { metadata, spec, status: { phase } });
    };
    put(volume('v', { spec: { storageClassName: 'gold' } }), says('Pending'));
    await world.reconcile('default/c');
    assert.equal(volumeNow()?.spec.claimRef, undefined);
    assert.equal(claimNow()?.status?.phase, 'Pending');
    assert.match(world.told.join(), /Cannot bind to requested volume "v": storageClassName does not match/);
    put(says('Bound'));
    await world.reconcile('default/c');
    assert.equal(volumeNow()?.spec.claimRef?.uid, 'uid-c', 'one that was is again');
  });

  it('releases a volume whose claim is deleted, but not because of a stale cache', async () => {
    put(volume('v', { spec: { claimRef: referenceTo('c') }, status: { phase: 'Bound' } }));
    world.store(persistentVolumeClaimResource, bound());
    await world.reconcile('v');
    assert.equal(volumeNow()?.status?.phase, 'Bound');
    world.take(persistentVolumeClaimResource, 'default/c');
    await world.reconcile('v');
    assert.equal(volumeNow()?.status?.phase, 'Released');
    assert.ok(volumeNow()?.spec.claimRef);
    // Another claim of the same name does not get the data.
    world.sync(persistentVolumeResource);
    put(claim('c', { metadata: { uid: 'second' } }));
    await world.reconcile('default/c');
    await world.reconcile('v');
    assert.deepEqual([claimNow()?.status?.phase, volumeNow()?.status?.phase], ['Pending', 'Released']);
  });

  for (const [policy, reason] of [
    ['Delete', 'VolumeFailedDelete'],
    ['Recycle', 'VolumeFailedRecycle'],
  ] as const)
    it(`has an event that this server cannot ${policy} a volume of another provisioner`, async () => {
      const spec = { persistentVolumeReclaimPolicy: policy, claimRef: referenceTo('c'), hostPath: undefined };
      put(volume('v', { spec: { ...spec, local: { path: '/d' } }, status: { phase: 'Released' } }));
      await world.reconcile('v');
      assert.equal(volumeNow()?.status?.phase, 'Failed');
      assert.match(world.told.join(), new RegExp(`Warning ${reason} v: `));
      world.sync(persistentVolumeResource);
      await world.reconcile('v');
      assert.equal(world.told.length, 1);
    });

  for (const [who, annotations, left] of [
    ['this controller', { [boundBy]: 'yes' }, undefined],
    ['a person', undefined, referenceTo('c', '')],
  ] as const)
    it(`makes a volume available again whose claim has another volume: of ${who}`, async () => {
      const metadata = annotations ? { annotations } : {};
      put(bound('c', 'w'), volume('v', { metadata, spec: { claimRef: referenceTo('c') } }));
      await world.reconcile('v');
      assert.deepEqual(volumeNow()?.spec.claimRef, left);
      world.sync(persistentVolumeResource);
      await world.reconcile('v');
      assert.equal(volumeNow()?.status?.phase, 'Available');
    });

  it('keeps the capacity of a bound claim', async () => {
    put(bound(), volume('v', { spec: { claimRef: referenceTo('c'), capacity: { storage: '9Gi' } } }));
    await world.reconcile('default/c');
    assert.deepEqual(claimNow()?.status?.capacity, { storage: '1Gi' });
  });

  it('lets other work run while it compares many claims with many volumes', async () => {
    world = new ScriptedWorld(persistentVolumeBinder);
    const large = { resources: { requests: { storage: '9Gi' } } };
    for (let n = 0; n < 100; n++) put(claim(`c${n}`, { spec: large }));
    put(volume('v'));
    let [passed, turns] = [0, 0];
    world.clock.monotonic = () => ++passed;
    world.clock.soon = (fn) => {
      turns++;
      setImmediate(fn);
    };
    await world.reconcile('class ');
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('wakes as many claims as may get a volume that is free', async () => {
    const woken = world.enqueued;
    const { storageClassName: _, ...unclassed } = claim('e').spec;
    const large = { resources: { requests: { storage: '9Gi' } } };
    put(claim('a', { spec: large }), claim('b'), claim('c'), { ...claim('e'), spec: unclassed });
    put(volume('v'));
    await world.reconcile('class ');
    assert.deepEqual(woken.splice(0), ['default/b']);
    put(volume('w'), volume('x'), volume('y'));
    await world.reconcile('class ');
    assert.deepEqual(woken.splice(0), ['default/b', 'default/c', 'default/e']);
    // A volume that has just been bound is not offered again, although the cache shows it as free.
    await world.reconcile('default/b');
    world.sync(persistentVolumeClaimResource);
    await world.reconcile('class ');
    assert.deepEqual(woken.splice(0), ['default/c', 'default/e']);
    await world.reconcile('default/c');
    assert.notEqual(claimNow('c')?.spec.volumeName, claimNow('b')?.spec.volumeName);
    assert.ok(world.keysOf(persistentVolumeClaimResource, claimNow('c') ?? assert.fail()).includes('class '));
  });
});
