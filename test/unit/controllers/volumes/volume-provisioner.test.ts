/** Volumes that this server provisions for claims, and the reasons for a failure. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import type { PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { storageClassResource } from '../../../../src/api/storage/v1/storage-class.ts';
import { newConflict, newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { volumeProvisioner } from '../../../../src/controllers/volumes/volume-provisioner.ts';
import { node } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, storageClass, volume } from './objects.ts';

const chosen = 'volume.kubernetes.io/selected-node';
const askedFor = 'volume.kubernetes.io/storage-provisioner';

describe('the provisioner', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(volumeProvisioner);
    const late = { volumeBindingMode: 'WaitForFirstConsumer', provisioner: 'minik8s.io/local' } as const;
    world.put(storageClassResource, storageClass('local', late));
    const made = node('n1');
    const annotations = { 'minik8s.io/local-volumes': '/folders' };
    world.put(nodeResource, { ...made, metadata: { ...made.metadata, annotations } });
  });
  const put = (one: PersistentVolumeClaim) => world.put(persistentVolumeClaimResource, one);
  const asked = (over: Parameters<typeof claim>[1] = {}) =>
    claim('c', {
      ...over,
      metadata: { annotations: { [askedFor]: 'minik8s.io/local', [chosen]: 'n1' } },
      spec: { storageClassName: 'local', ...over.spec },
    });
  const volumes = () => world.names(persistentVolumeResource);

  for (const [what, spec, why] of [
    [
      'for ReadWriteMany access',
      { accessModes: ['ReadOnlyMany', 'ReadWriteMany'] },
      /ReadOnlyMany, ReadWriteMany is not/,
    ],
    ['with a selector', { selector: { matchLabels: { a: 'b' } } }, /claim.spec.selector is not supported/],
    ['of a block device', { volumeMode: 'Block' }, /volumeMode Block is not supported/],
  ] as const)
    it(`reports once, before any pod exists, that it provisions nothing ${what}`, async () => {
      const hopeless = claim('c', {
        spec: { storageClassName: 'local', ...spec } as PersistentVolumeClaim['spec'],
      });
      put(hopeless);
      await world.reconcile('default/c');
      assert.equal(world.told.length, 1);
      assert.match(
        world.told[0] ?? '',
        /^Warning ProvisioningFailed c: failed to provision volume with Stor/,
      );
      assert.match(world.told[0] ?? '', why);
      assert.deepEqual([volumes(), world.asked], [[], []]);
      // New pods and other volumes do not requeue the claim.
      assert.deepEqual(world.keysOf(persistentVolumeResource, volume('v')), ['v']);
    });

  it('reports nothing for a claim that another volume fits', async () => {
    const spec = { storageClassName: 'local', accessModes: ['ReadWriteMany'] };
    world.put(persistentVolumeResource, volume('by-hand', { spec }));
    put(claim('c', { spec }));
    await world.reconcile('default/c');
    assert.deepEqual(world.told, []);
  });

  it('provisions nothing that no claim requested', async () => {
    put(claim('c', { spec: { storageClassName: 'local' } }));
    await world.reconcile('default/c');
    assert.deepEqual([volumes(), world.told], [[], []]);
  });

  it('creates a volume once, even if its cache lags', async () => {
    put(asked());
    await world.reconcile('default/c');
    await world.reconcile('default/c');
    assert.deepEqual(volumes(), ['pvc-uid-c']);
    assert.deepEqual(world.told, [
      'Normal ProvisioningSucceeded c: Successfully provisioned volume pvc-uid-c',
    ]);
  });

  it('continues after an interruption', async () => {
    put(asked());
    world.refuse = (verb) => (verb === 'create' ? new Error('cut off') : undefined);
    await assert.rejects(world.reconcile('default/c'));
    world.refuse = () => undefined;
    await world.reconcile('default/c');
    assert.deepEqual(volumes(), ['pvc-uid-c']);
  });

  it('lets the scheduler choose again if the node was deleted', async () => {
    put(asked());
    world.seen.remove(nodeResource, 'n1');
    await world.reconcile('default/c');
    const found = world.stored(persistentVolumeClaimResource, 'default/c');
    assert.equal(found?.metadata.annotations?.[chosen], undefined);
    assert.equal(found?.spec.storageClassName, 'local');
    assert.deepEqual(volumes(), []);
    assert.match(world.told.join(), /^Warning ProvisioningFailed c: .*node "n1" does not exist$/);
    // The scheduler chose another node before the provisioner could write the failure.
    world.refuse = (_, name) =>
      name === 'c' ? newConflict(persistentVolumeClaimResource, 'c', 'it') : undefined;
    await world.reconcile('default/c');
    await world.reconcile('default/gone');
  });

  it('reports the reason if a volume could not be created', async () => {
    put(asked());
    world.refuse = (verb) => (verb === 'create' ? newInternalError('no room') : undefined);
    await assert.rejects(world.reconcile('default/c'), /no room/);
    assert.match(world.told.join(), /^Warning ProvisioningFailed c: .*no room$/);
  });

  it('sends no request for a volume that is in the cache', async () => {
    put(asked());
    world.put(persistentVolumeResource, volume('pvc-uid-c'));
    await world.reconcile('default/c');
    assert.deepEqual(world.asked, []);
  });

  it('reconciles after changes of a claim, and of the class and the chosen node of waiting claims', () => {
    put(asked());
    const { metadata, ...bound } = asked();
    const annotations = { ...metadata.annotations, 'pv.kubernetes.io/bind-completed': 'yes' };
    put({
      ...bound,
      metadata: { ...metadata, name: 'bound', annotations },
      spec: { ...bound.spec, volumeName: 'v' },
      status: { phase: 'Bound' },
    });
    put(claim('other', { spec: { storageClassName: 'slow' } }));
    const late = storageClass('local');
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, asked()), ['default/c']);
    assert.deepEqual(world.keysOf(storageClassResource, late), ['default/c']);
    assert.deepEqual(world.keysOf(nodeResource, node('n1')), ['default/c']);
    assert.deepEqual(world.keysOf(nodeResource, node('n2')), []);
  });
});

describe('the folder of a local volume', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(volumeProvisioner);
  });
  const made = (over: Parameters<typeof volume>[1] = {}) =>
    world.put(
      persistentVolumeResource,
      volume('pvc-1', {
        ...over,
        metadata: {
          annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' },
          finalizers: ['minik8s.io/folder'],
          labels: { 'minik8s.io/node': 'n1' },
          ...over.metadata,
        },
        spec: {
          hostPath: undefined,
          local: { path: '/f/pvc-1' },
          persistentVolumeReclaimPolicy: 'Delete',
          ...over.spec,
        },
        status: { phase: 'Released', ...over.status },
      }),
    );
  const going = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const now = () => world.stored(persistentVolumeResource, 'pvc-1');

  it('is deleted after its claim, unless the volume has just been changed', async () => {
    const one = made({ metadata: { finalizers: [] } });
    const kept = { ...one, spec: { ...one.spec, persistentVolumeReclaimPolicy: 'Retain' as const } };
    world.store(persistentVolumeResource, {
      ...kept,
      metadata: { ...one.metadata, resourceVersion: '7' },
    });
    await world.reconcile('pvc-1');
    assert.ok(now());
    world.store(persistentVolumeResource, one);
    await world.reconcile('pvc-1');
    assert.equal(now(), undefined);
    await world.reconcile('gone');
  });

  it('is awaited while its node exists, also if only the cache does not show the node', async () => {
    made(going);
    world.store(nodeResource, node('n1'));
    await world.reconcile('pvc-1');
    assert.deepEqual(now()?.metadata.finalizers, ['minik8s.io/folder']);
    world.sync(nodeResource);
    const { length } = world.asked;
    await world.reconcile('pvc-1');
    assert.deepEqual(world.asked.slice(length), [], 'objects in the cache are not requested');
    world.take(nodeResource, 'n1');
    world.sync(nodeResource);
    await world.reconcile('pvc-1');
    assert.equal(now(), undefined);
  });

  it('is forgotten if its node is unknown', async () => {
    made({ metadata: { ...going.metadata, labels: {} } });
    world.put(nodeResource, node('n1'));
    await world.reconcile('pvc-1');
    assert.equal(now(), undefined);
  });

  it('is not removed while its volume exists', async () => {
    made({ status: { phase: 'Bound' } });
    await world.reconcile('pvc-1');
    assert.deepEqual(world.asked, []);
  });

  it('is reconciled when its node is deleted, and not at each heartbeat of the node', () => {
    made(going);
    const n1 = world.put(nodeResource, node('n1'));
    assert.deepEqual(world.keysOf(nodeResource, n1), []);
    world.seen.remove(nodeResource, 'n1');
    assert.deepEqual(world.keysOf(nodeResource, n1), ['pvc-1']);
    assert.deepEqual(world.keysOf(nodeResource, node('n2')), []);
  });
});

describe('the folder of a share', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(volumeProvisioner);
  });
  const going = (status: object = { phase: 'Released' }, more: object = {}) =>
    world.put(
      persistentVolumeResource,
      volume('pvc-1', {
        metadata: {
          annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/nfs' },
          finalizers: ['minik8s.io/folder'],
          deletionTimestamp: '2026-01-01T00:00:00Z',
          ...more,
        },
        spec: {
          hostPath: undefined,
          nfs: { server: 'files', path: '/all/pvc-1' },
          persistentVolumeReclaimPolicy: 'Delete',
        },
        status,
      }),
    );
  const now = () => world.stored(persistentVolumeResource, 'pvc-1');
  const nodeNow = () => now()?.metadata.labels?.['minik8s.io/node'];
  const look = async (times = 1) => {
    for (let time = 0; time < times; time++) {
      await world.reconcile('pvc-1');
      world.sync(persistentVolumeResource);
    }
  };

  it('is assigned to a ready node, and the volume is deleted when the node has removed it', async () => {
    world.put(nodeResource, node('n1', { ready: 'False' }));
    world.put(nodeResource, node('n2'));
    going();
    await look(2);
    assert.equal(nodeNow(), 'n2');
    going({ phase: 'Released', reason: 'FolderRemoved' });
    await look();
    assert.equal(now(), undefined);
  });

  it('stays while there is no ready node, which is reported once, and is processed when a node is added', async () => {
    going({ phase: 'Released', lastPhaseTransitionTime: 'then' });
    await look(3);
    assert.deepEqual([now()?.status?.phase, nodeNow()], ['Failed', undefined]);
    assert.equal(now()?.status?.lastPhaseTransitionTime, 'then', 'what else was said of it stays');
    assert.deepEqual(world.told, ['Warning VolumeFailedDelete pvc-1: no node is ready that could mount it']);
    const n1 = world.put(nodeResource, node('n1'));
    assert.ok(world.keysOf(nodeResource, n1).includes('pvc-1'));
    await look();
    assert.equal(nodeNow(), 'n1');
    const { deletionTimestamp: _, ...metadata } = going().metadata;
    const stays = world.put(persistentVolumeResource, { ...going(), metadata });
    assert.deepEqual(world.keysOf(nodeResource, n1), [], stays.metadata.name);
  });

  for (const verb of ['update', 'updateStatus'])
    it(`is assigned to the next node, also after an interruption at ${verb}`, async () => {
      for (const name of ['n1', 'n2']) world.put(nodeResource, node(name));
      const stuck = { phase: 'Failed', reason: 'Stuck', message: 'no NFS' };
      const given = { labels: { 'minik8s.io/node': 'n1' } };
      going(stuck, given);
      world.refuse = (asked) => (asked === verb ? new Error('cut off') : undefined);
      await assert.rejects(world.reconcile('pvc-1'));
      world.refuse = () => undefined;
      // The first agent reports the failure again.
      if (now()?.status?.reason === undefined) going(stuck, given);
      world.sync(persistentVolumeResource);
      await look(2);
      assert.deepEqual([nodeNow(), now()?.status?.reason], ['n2', undefined]);
      going(stuck, { labels: { 'minik8s.io/node': 'n2' } });
      await look(2);
      assert.deepEqual([nodeNow(), now()?.status?.reason], ['n2', 'Stuck'], 'each is asked once');
    });

  it('is kept if the volume is retained, or bound', async () => {
    world.put(nodeResource, node('n1'));
    going({ phase: 'Bound' });
    await look();
    assert.equal(nodeNow(), undefined);
    const kept = going();
    world.put(persistentVolumeResource, {
      ...kept,
      spec: { ...kept.spec, persistentVolumeReclaimPolicy: 'Retain' },
    });
    await look();
    assert.equal(now(), undefined, 'the object is removed without a request');
  });
});
