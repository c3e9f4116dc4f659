/** Volumes that grow with their claims. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newConflict } from '../../../../src/apimachinery/status-error.ts';
import { expandController } from '../../../../src/controllers/volumes/expand.ts';
import { at } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, referenceTo, volume } from './objects.ts';

const provisionedBy = 'pv.kubernetes.io/provisioned-by';
type Over = NonNullable<Parameters<typeof claim>[1]>;

describe('a claim that requests more storage', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(expandController);
  });
  const asking = (over: Over = {}) =>
    claim('c', {
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' }, ...over.metadata },
      spec: { volumeName: 'v', resources: { requests: { storage: '3Gi' } }, ...over.spec },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...over.status },
    });
  const of = (by = 'minik8s.io/local', spec: object = {}) =>
    volume('v', {
      metadata: { annotations: { [provisionedBy]: by } },
      spec: { claimRef: referenceTo('c'), ...spec },
      status: { phase: 'Bound' },
    });
  const put = (one: ReturnType<typeof claim>, has: ReturnType<typeof volume> | undefined = of()) => {
    world.put(persistentVolumeClaimResource, one);
    if (has) world.put(persistentVolumeResource, has);
  };
  const look = async (times = 1) => {
    for (let time = 0; time < times; time++) {
      await world.reconcile('default/c');
      world.sync(persistentVolumeResource);
      world.sync(persistentVolumeClaimResource);
    }
  };
  const sizes = () => [
    world.stored(persistentVolumeResource, 'v')?.spec.capacity?.storage,
    world.stored(persistentVolumeClaimResource, 'default/c')?.status?.capacity?.storage,
  ];
  const done = 'Normal VolumeResizeSuccessful c: volume v has 3Gi';

  it('gets it, first in its volume and then in its status, with one event', async () => {
    const capacity = { storage: '1Gi', mine: '1' };
    put(
      asking({ status: { capacity } }),
      of('minik8s.io/local', { capacity: { storage: '1Gi', other: '7' } }),
    );
    await look();
    assert.deepEqual([sizes(), world.told], [['3Gi', '1Gi'], []]);
    await look();
    assert.deepEqual([sizes(), world.told], [['3Gi', '3Gi'], [done]]);
    assert.equal(world.stored(persistentVolumeResource, 'v')?.spec.capacity?.other, '7');
    const { phase, capacity: has } = world.stored(persistentVolumeClaimResource, 'default/c')?.status ?? {};
    assert.deepEqual([phase, has], ['Bound', { mine: '1', other: '7', storage: '3Gi' }]);
    const { length } = world.asked;
    await look();
    assert.deepEqual([world.asked.length, world.told.length], [length, 1]);
  });

  for (const verb of ['update', 'updateStatus'])
    for (const error of [new Error('cut off'), newConflict(persistentVolumeResource, 'v', 'it has changed')])
      it(`continues after ${error.message} at ${verb}`, async () => {
        put(asking());
        world.refuse = (asked) => (asked === verb ? error : undefined);
        for (let time = 0; time < 2; time++)
          await look().catch((thrown: unknown) => assert.equal(thrown, error));
        assert.deepEqual([sizes()[1], world.told], ['1Gi', []]);
        world.refuse = () => undefined;
        await look(3);
        assert.deepEqual([sizes(), world.told], [['3Gi', '3Gi'], [done]]);
      });

  it('gets it also if its status has no capacity yet', async () => {
    put(asking({ status: { capacity: undefined } }));
    await look(2);
    assert.deepEqual(sizes(), ['3Gi', '3Gi']);
  });

  it('gets the size of its volume if that is larger', async () => {
    put(asking(), of('minik8s.io/nfs', { capacity: { storage: '5Gi' } }));
    await look(2);
    assert.deepEqual(sizes(), ['5Gi', '5Gi']);
  });

  it('waits for an external provisioner if its volume has one', async () => {
    put(asking(), of('example.com/disks'));
    await look();
    assert.deepEqual(sizes(), ['1Gi', '1Gi']);
    assert.deepEqual(world.told, [
      'Normal ExternalExpanding c: waiting for an external controller to expand this PVC',
    ]);
  });

  for (const [what, one, has] of [
    ['has no volume', asking(), undefined],
    [
      'names the volume of another claim',
      asking(),
      of('minik8s.io/local', { claimRef: referenceTo('c', 'other') }),
    ],
    ['names a volume without a claim', asking(), of('minik8s.io/local', { claimRef: undefined })],
    ['is not bound', asking({ status: { phase: 'Pending' } }), of()],
    ['goes', asking({ metadata: { deletionTimestamp: at(9), finalizers: ['x'] } }), of()],
    ['requests less', asking({ status: { capacity: { storage: '4Gi' } } }), of()],
    ['has the requested size already', asking({ status: { capacity: { storage: '3072Mi' } } }), of()],
  ] as const)
    it(`gets nothing if it ${what}`, async () => {
      world.put(persistentVolumeClaimResource, one);
      if (has) world.put(persistentVolumeResource, has);
      await look(2);
      assert.deepEqual([world.asked, world.told], [[], []]);
    });

  it('does nothing if it is deleted', async () => {
    assert.equal(await world.reconcile('default/c'), undefined);
  });

  it('is enqueued once it is bound, and by changes of its volume', () => {
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, asking()), ['default/c']);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, claim('c')), []);
    assert.deepEqual(world.keysOf(persistentVolumeResource, of()), ['default/c']);
    assert.deepEqual(world.keysOf(persistentVolumeResource, volume('v')), []);
  });
});
