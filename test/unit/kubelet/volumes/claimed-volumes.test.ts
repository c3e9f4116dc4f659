/**
 * Volume that a pod on this node gets by a claim, the reasons against it, and the other users of the volume.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Volume,
} from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../src/client/client.ts';
import { ClaimedVolumes } from '../../../../src/kubelet/volumes/claimed-volumes.ts';
import { VolumeError } from '../../../../src/kubelet/volumes/plan/volume-error.ts';
import { at, container, pod } from '../../controllers/objects.ts';
import { claim, referenceTo, volume } from '../../controllers/volumes/objects.ts';

const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'c' } };
const scratch = { name: 'data', ephemeral: { volumeClaimTemplate: { spec: claim('x').spec } } } as Volume;
const user = (name: string, over: Partial<Pod['spec']> = {}) =>
  pod(name, { spec: { volumes: [data], ...over } });
const bound = (over: Parameters<typeof claim>[1] = {}) =>
  claim('c', { spec: { volumeName: 'v' }, status: { phase: 'Bound' }, ...over });

let claims: Map<string, PersistentVolumeClaim>;
let volumes: Map<string, PersistentVolume | Error>;
let claimed: ClaimedVolumes;
beforeEach(() => {
  claims = new Map([['default/c', bound()]]);
  volumes = new Map([['v', volume('v', { spec: { claimRef: referenceTo('c') } })]]);
  const get = async (name: string) => {
    const found = volumes.get(name) ?? newNotFound(persistentVolumeResource, name);
    if (found instanceof Error) throw found;
    return found;
  };
  claimed = new ClaimedVolumes({
    client: { resource: () => ({ get }) } as unknown as Client,
    sources: {
      claim: async (namespace: string, name: string) => claims.get(`${namespace}/${name}`),
    } as never,
  });
});
const refused = (message: string, one: Pod = user('p'), of: Volume = data) =>
  assert.rejects(claimed.find(one, of), (error) => error instanceof VolumeError && error.message === message);

describe('the volume that a pod has by a claim', () => {
  it('is read once, and again on request', async () => {
    const one = user('p');
    assert.equal(claimed.known(one, data), undefined);
    const first = await claimed.of(one, data);
    assert.equal(first.metadata.name, 'v');
    const grown = volume('v', { spec: { claimRef: referenceTo('c'), capacity: { storage: '9Gi' } } });
    volumes.set('v', grown);
    assert.equal(await claimed.of(one, data), first);
    assert.equal(await claimed.find(one, data), grown);
    assert.equal(claimed.known(one, data), grown);
  });

  it('is unavailable while the claim is missing, unbound or being deleted', async () => {
    claims.clear();
    await refused('persistentvolumeclaim "c" not found');
    for (const one of [bound({ status: { phase: 'Pending' } }), claim('c', { status: { phase: 'Bound' } })]) {
      claims.set('default/c', one);
      await refused('PVC is not bound');
    }
    claims.set('default/c', bound({ metadata: { deletionTimestamp: at(1) } }));
    await refused("can't start pod because PVC is being deleted");
  });

  it('stays available during the deletion of the claim', async () => {
    const one = user('p');
    await claimed.find(one, data);
    claims.set('default/c', bound({ metadata: { deletionTimestamp: at(1) } }));
    assert.equal((await claimed.find(one, data)).metadata.name, 'v');
    // Another pod that comes only now does not get the volume.
    await refused("can't start pod because PVC is being deleted", user('q'));
  });

  it('is rejected if it is missing, or bound to another claim', async () => {
    volumes.delete('v');
    await refused('persistentvolume "v" not found');
    for (const [reference, told] of [
      [referenceTo('c', 'earlier'), 'earlier'],
      [undefined, ''],
    ] as const) {
      volumes.set('v', volume('v', { spec: { claimRef: reference } }));
      await refused(
        `found PV object "v" but its pv.Spec.ClaimRef.UID "${told}" does not point to claim.UID "uid-c"`,
      );
    }
    volumes.set('v', newInternalError('away'));
    await assert.rejects(claimed.find(user('p'), data), /away/);
  });

  it('uses the claim that was created for the same pod, if the volume is ephemeral', async () => {
    const one = user('p', { volumes: [scratch] });
    const mine = { ...bound(), metadata: { ...bound().metadata, name: 'p-data' } };
    claims.set('default/p-data', mine);
    await refused('PVC default/p-data was not created for pod default/p (pod is not owner)', one, scratch);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }];
    claims.set('default/p-data', { ...mine, metadata: { ...mine.metadata, ownerReferences } });
    assert.equal((await claimed.find(one, scratch)).metadata.name, 'v');
  });

  it('is a block device or a file system, as the pod uses it', async () => {
    const mounts = [container({ volumeMounts: [{ name: 'data', mountPath: '/d' }] as never })];
    const devices = [container({ volumeDevices: [{ name: 'data', devicePath: '/dev/d' }] })];
    assert.ok(await claimed.find(user('a', { containers: mounts }), data));
    await refused(
      'volume data has volumeMode Filesystem, but is specified in volumeDevices',
      user('b', { containers: devices }),
    );
    volumes.set('v', volume('v', { spec: { claimRef: referenceTo('c'), volumeMode: 'Block' } }));
    assert.ok(await claimed.find(user('c', { containers: devices }), data));
    await refused(
      'volume data has volumeMode Block, but is specified in volumeMounts',
      user('d', { containers: mounts }),
    );
  });

  it('is shared as long as another pod here has it', async () => {
    const [one, other] = [user('p'), user('q')];
    await claimed.find(one, data);
    assert.deepEqual([claimed.isShared('v', 'uid-p'), claimed.isShared('v', 'uid-q')], [false, true]);
    assert.equal(claimed.isShared('w', 'uid-q'), false);
    await claimed.find(other, data);
    assert.equal(claimed.isShared('v', 'uid-p'), true);
    claimed.forget('uid-q');
    assert.deepEqual([claimed.isShared('v', 'uid-p'), claimed.known(other, data)], [false, undefined]);
  });
});
