/** Volumes for the claims of one pod on a node, before the pod is bound. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import { rankVolumes } from '../../../../src/api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import type { StorageClass } from '../../../../src/api/storage/v1/types.gen.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { newConflict } from '../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../src/client/client.ts';
import type { Plugin } from '../../../../src/scheduler/framework.ts';
import { assignOn } from '../../../../src/scheduler/plugins/delayed-claims.ts';
import { volumeBinding } from '../../../../src/scheduler/plugins/volume-binding.ts';
import { podInfo } from '../../../../src/scheduler/pod-info.ts';
import { PreBinds } from '../../../../src/scheduler/pre-binds.ts';
import { Snapshot } from '../../../../src/scheduler/snapshot.ts';
import { node, pod } from '../../controllers/objects.ts';
import { claim, referenceTo, storageClass, volume } from '../../controllers/volumes/objects.ts';

const late = storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' });
const here = new Snapshot();
here.setNode(node('n', { labels: { zone: 'a' } }));
const onNode = here.node('n') ?? assert.fail();
const sized = (name: string, storage: string) =>
  claim(name, { spec: { storageClassName: 'late', resources: { requests: { storage } } } });
const disk = (name: string, storage: string, spec: Partial<PersistentVolume['spec']> = {}) =>
  volume(name, { spec: { storageClassName: 'late', capacity: { storage }, ...spec } });
const assigned = (
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
  of: StorageClass | undefined = { ...late, provisioner: 'kubernetes.io/no-provisioner' },
) =>
  assignOn(
    onNode,
    claims.map((one) => ({ claim: one, storageClass: of, volumes: rankVolumes(one, volumes) })),
  )
    ?.map((one) => `${one.claim.metadata.name}:${one.volume?.metadata.name ?? 'made'}`)
    .toSorted()
    .join(' ');

describe('claims of one pod', () => {
  it('get one volume each, and the larger volume is left for the larger claim', () => {
    const claims = [sized('large', '5Gi'), sized('small', '1Gi')];
    assert.equal(assigned(claims, [disk('b', '9Gi'), disk('a', '2Gi')]), 'large:b small:a');
    assert.equal(assigned(claims, [disk('b', '9Gi')]), undefined);
    assert.equal(assigned(claims, [disk('a', '2Gi')], late), 'large:made small:a');
  });
  it('get only the volumes that name them, even if those cannot be on the node', () => {
    const [mine] = [sized('c', '1Gi')];
    assert.equal(
      assigned([mine], [disk('a', '1Gi'), disk('z', '9Gi', { claimRef: referenceTo('c') })]),
      'c:z',
    );
    const terms = [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }] }];
    const away = { claimRef: referenceTo('c'), nodeAffinity: { required: { nodeSelectorTerms: terms } } };
    assert.equal(assigned([mine], [disk('a', '1Gi'), disk('z', '9Gi', away)], late), undefined);
  });
  it('are provisioned only on the node that was selected for them', () => {
    const chosen = (name: string) => {
      const one = sized('c', '1Gi');
      const annotations = { 'volume.kubernetes.io/selected-node': name };
      return { ...one, metadata: { ...one.metadata, annotations } };
    };
    assert.equal(assigned([chosen('n')], [], late), 'c:made');
    assert.equal(assigned([chosen('m')], [], late), undefined);
  });
});

describe('the writes before a pod is bound', () => {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
  const asks = podInfo(pod('p', { spec: { nodeName: undefined, volumes } }));

  class World {
    claim: PersistentVolumeClaim | undefined = sized('c', '1Gi');
    volumes: PersistentVolume[] = [];
    readonly written: KubeObject[] = [];
    conflicts = false;
    readonly cluster = new Snapshot({
      namespaceLabels: () => undefined,
      siblingsOf: () => undefined,
      volumes: {
        claim: () => this.claim,
        volumesFor: () => this.volumes,
        volume: (name) => this.volumes.find(({ metadata }) => metadata.name === name),
        storageClass: () => late,
      },
    });
    readonly client = {
      resource: (ref: { kind: string }) => ({
        update: async (next: KubeObject) => {
          if (this.conflicts)
            throw newConflict(
              ref.kind === 'PersistentVolume' ? persistentVolumeResource : persistentVolumeClaimResource,
              next.metadata.name,
              'it has changed',
            );
          const version = String(Number(next.metadata.resourceVersion) + 10);
          const kept = { ...next, metadata: { ...next.metadata, resourceVersion: version } };
          this.written.push(kept);
          return kept;
        },
      }),
    } as unknown as Client;
    readonly preBinds = new PreBinds(this.client, [volumeBinding as Plugin]);
    step = (now = 0) => this.preBinds.step('default/p', asks, onNode, this.cluster, now);
    get names() {
      return this.written.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    }
  }

  it('store the claim in its volume once, also with a stale cache', async () => {
    const world = new World();
    world.volumes = [disk('a', '1Gi')];
    assert.deepEqual(await world.step(), { kind: 'wait', ms: 600_000 });
    assert.deepEqual(await world.step(1000), { kind: 'wait', ms: 599_000 });
    assert.deepEqual(world.names, ['PersistentVolume a']);
    world.volumes = world.written as PersistentVolume[];
    assert.equal((await world.step()).kind, 'wait');
    const [one] = [world.claim ?? assert.fail()];
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    world.claim = {
      ...one,
      metadata: { ...one.metadata, annotations },
      spec: { ...one.spec, volumeName: 'a' },
    };
    assert.equal((await world.step()).kind, 'wait', 'the kubelet mounts a claim only in the phase Bound');
    world.claim = { ...world.claim, status: { phase: 'Bound' } };
    assert.deepEqual(await world.step(), { kind: 'done' });
    assert.deepEqual(world.names, ['PersistentVolume a']);
  });

  it('choose another volume if another client was faster', async () => {
    const world = new World();
    world.volumes = [disk('a', '1Gi'), disk('b', '1Gi')];
    world.conflicts = true;
    assert.equal((await world.step()).kind, 'wait');
    world.conflicts = false;
    world.volumes = [disk('a', '1Gi', { claimRef: referenceTo('other') }), disk('b', '1Gi')];
    assert.equal((await world.step()).kind, 'wait');
    assert.deepEqual(world.names, ['PersistentVolume b']);
  });

  it('set the node for the provisioner, and the pod is scheduled again if that fails', async () => {
    const world = new World();
    const before = world.claim;
    await world.step();
    assert.equal(world.written[0]?.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'n');
    world.claim = world.written[0] as PersistentVolumeClaim;
    assert.equal((await world.step()).kind, 'wait');
    world.claim = before && { ...before, metadata: { ...before.metadata, resourceVersion: '99' } };
    const last = await world.step();
    assert.equal(last.kind === 'refused' && last.refused.text, 'binding volumes: provisioning failed for c');
  });

  it('fail if the claim was bound in the meantime to a volume that the node cannot have', async () => {
    const world = new World();
    const terms = [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }] }];
    world.volumes = [disk('z', '1Gi', { nodeAffinity: { required: { nodeSelectorTerms: terms } } })];
    const { metadata, spec } = sized('c', '1Gi');
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    world.claim = claim('c', { metadata: { ...metadata, annotations }, spec: { ...spec, volumeName: 'z' } });
    const last = await world.step();
    assert.equal(last.kind === 'refused' && last.refused.text, 'node(s) had volume node affinity conflict');
    assert.deepEqual(world.names, []);
  });

  it('have their whole timeout again after the pod was removed and has come back', async () => {
    const world = new World();
    await world.step();
    world.claim = world.written[0] as PersistentVolumeClaim;
    world.preBinds.delete('default/p');
    assert.deepEqual(await world.step(700_000), { kind: 'wait', ms: 600_000 });
  });

  it('fail if they exceed the timeout, or if the claim is deleted', async () => {
    const world = new World();
    await world.step();
    world.claim = world.written[0] as PersistentVolumeClaim;
    assert.equal((await world.step(600_000)).kind, 'refused');
    world.claim = undefined;
    const last = await world.step();
    assert.equal(last.kind === 'refused' && last.refused.text, 'persistentvolumeclaim "c" not found');
  });
});
