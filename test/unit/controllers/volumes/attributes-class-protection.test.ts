/** The finalizer that keeps a VolumeAttributesClass while it is in use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import {
  volumeAttributesClassResource as classes,
  type VolumeAttributesClass,
} from '../../../../src/api/storage/v1/volume-attributes-class.ts';
import {
  attributesClassProtectionController,
  attributesClassProtectionRights,
} from '../../../../src/controllers/volumes/attributes-class-protection.ts';
import { at, meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, volume } from './objects.ts';

const finalizers = ['kubernetes.io/vac-protection'];
const gold = (over: object = {}): VolumeAttributesClass => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass' },
  metadata: { ...meta('gold', over), namespace: undefined },
  ...{ driverName: 'd', parameters: { a: 'b' } },
});
const start = () =>
  new ScriptedWorld(attributesClassProtectionController, 0, [attributesClassProtectionRights]);

describe('a class of volume attributes', () => {
  it('gets its finalizer, once', async () => {
    const world = start();
    world.put(classes, gold());
    await world.reconcile('gold');
    assert.deepEqual(world.stored(classes, 'gold')?.metadata.finalizers, finalizers);
    world.sync(classes);
    const before = world.asked.length;
    await world.reconcile('gold');
    assert.equal(world.asked.length, before);
  });

  const ending = gold({ finalizers, deletionTimestamp: at(1) });
  const wants = { spec: { volumeAttributesClassName: 'gold' } };
  const other = { spec: { volumeAttributesClassName: 'silver' } };
  const users: [what: string, put: (world: ScriptedWorld) => void, stays: boolean][] = [
    ['that nothing names', () => undefined, false],
    ['that a claim wants', (world) => world.put(persistentVolumeClaimResource, claim('c', wants)), true],
    [
      'that a claim still has',
      (world) =>
        world.put(
          persistentVolumeClaimResource,
          claim('c', { ...other, status: { currentVolumeAttributesClassName: 'gold' } }),
        ),
      true,
    ],
    ['that a volume has', (world) => world.put(persistentVolumeResource, volume('v', wants)), true],
    [
      'while claims and volumes name another one',
      (world) => {
        world.put(persistentVolumeClaimResource, claim('c', other));
        world.put(persistentVolumeResource, volume('v', other));
      },
      false,
    ],
  ];
  for (const [what, put, stays] of users)
    it(`${what} ${stays ? 'stays' : 'goes'} when it is deleted`, async () => {
      const world = start();
      world.put(classes, ending);
      put(world);
      await world.reconcile('gold');
      assert.equal(world.stored(classes, 'gold') !== undefined, stays);
    });

  it('is reconciled for its own changes and for claims and volumes that name it', () => {
    const world = start();
    assert.deepEqual(world.keysOf(classes, gold()), ['gold']);
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, claim('c', wants)), ['gold']);
    assert.deepEqual(world.keysOf(persistentVolumeResource, volume('v', wants)), ['gold']);
    assert.deepEqual(world.keysOf(persistentVolumeResource, volume('v')), []);
  });
});
