/** The controller of StatefulSets: its pods and their claims. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { statefulSetResource } from '../../../../../src/api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { statefulSetController } from '../../../../../src/controllers/workloads/stateful/stateful-set.ts';
import { at, ownedBy, pod } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { claim, member, statefulSet, withData } from './stateful-objects.ts';
import { key, put, replaceWorld, settle, startStatefulWorld, status, world } from './stateful-world.ts';

startStatefulWorld();

describe('a StatefulSet', () => {
  it('creates its pods, and reports them with its own messages', async () => {
    put(statefulSet(2, withData()));
    await settle();
    assert.deepEqual(world.names(podResource), ['web-0', 'web-1']);
    assert.deepEqual(world.told, [
      'Normal SuccessfulCreate web: create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'Normal SuccessfulCreate web: create Pod web-0 in StatefulSet web successful',
      'Normal SuccessfulCreate web: create Claim data-web-1 Pod web-1 in StatefulSet web success',
      'Normal SuccessfulCreate web: create Pod web-1 in StatefulSet web successful',
    ]);
    const [revision] = world.names(controllerRevisionResource);
    assert.deepEqual(status(), {
      observedGeneration: 1,
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    });
  });

  it('creates no events in a namespace that is being deleted', async () => {
    put(statefulSet(1, withData()));
    const causes = [{ reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' }];
    const ends = newForbidden(podResource, 'x', 'it ends', causes);
    for (const name of [/^data-/, /^web-0$/, /^web-\w{5}/]) {
      world.refuse = (verb, made) => (verb === 'create' && name.test(made) ? ends : undefined);
      await world.reconcile(key);
      world.take(persistentVolumeClaimResource, 'default/data-web-0');
      for (const one of world.names(controllerRevisionResource))
        world.take(controllerRevisionResource, `default/${one}`);
      replaceWorld(Object.assign(new ScriptedWorld(statefulSetController), { told: world.told }));
      put(statefulSet(1, withData()));
    }
    assert.deepEqual(
      world.told.filter((told) => told.startsWith('Warning')),
      [],
    );
  });

  it('creates no pod without its claim, and reports why', async () => {
    put(statefulSet(1, withData()));
    world.refuse = (verb, name) =>
      verb === 'create' && name === 'data-web-0'
        ? newForbidden(persistentVolumeClaimResource, name, 'exceeded quota')
        : undefined;
    await assert.rejects(world.reconcile(key), /failed to create PVC data-web-0: .*exceeded quota/);
    assert.deepEqual(world.names(podResource), []);
    const [ofClaim, ofPod] = world.told;
    assert.match(
      ofClaim ?? '',
      /^Warning FailedCreate web: create Claim data-web-0 Pod web-0 in StatefulSet web failed error: /,
    );
    assert.match(
      ofPod ?? '',
      /^Warning FailedCreate web: create Pod web-0 in StatefulSet web failed error: failed to create PVC /,
    );
    assert.equal(status()?.observedGeneration, 1);
  });

  it('reports a pod of its name that belongs to another owner, and leaves that alone', async () => {
    put(statefulSet(1), pod('web-0', { metadata: { labels: { app: 'other' } } }));
    await assert.rejects(world.reconcile(key), /already exists/);
    assert.match(world.told.join(), /^Warning FailedCreate web: create Pod web-0 in .* already exists/);
    assert.equal(world.stored(podResource, 'default/web-0')?.metadata.ownerReferences, undefined);
  });

  it('adopts a pod with a name of the set, and no pod that only has the labels', async () => {
    const bare = { labels: { app: 'web' }, ownerReferences: [] };
    put(statefulSet(1), member(0, 'new', { metadata: bare }), pod('loose', { metadata: bare }));
    await world.reconcile(key);
    const owners = (name: string) => world.stored(podResource, `default/${name}`)?.metadata.ownerReferences;
    assert.deepEqual(owners('web-0'), [ownedBy('StatefulSet', 'web')]);
    assert.deepEqual(owners('loose'), []);
    assert.deepEqual(world.keysOf(podResource, pod('loose', { metadata: bare })), []);
  });

  it('releases pods with other names or labels', async () => {
    const own = { labels: { app: 'web' }, ownerReferences: [ownedBy('StatefulSet', 'web')] };
    const names = ['web', 'web-00', 'web-x', 'web-1-a', 'web-99999999999', 'other-0'];
    put(statefulSet(1), member(0), ...names.map((name) => pod(name, { metadata: own })));
    await settle();
    const owners = (name: string) => world.stored(podResource, `default/${name}`)?.metadata.ownerReferences;
    assert.deepEqual(names.flatMap(owners), []);
    assert.deepEqual(owners('web-0'), [ownedBy('StatefulSet', 'web')]);
    assert.equal(world.all(podResource).length, names.length + 1);
    assert.equal(status()?.replicas, 1);
  });

  it('keeps its pods while it is being deleted', async () => {
    const own = { labels: { app: 'web' }, ownerReferences: [ownedBy('StatefulSet', 'web')] };
    const set = statefulSet(1);
    const deleted = { ...set.metadata, deletionTimestamp: at(0), finalizers: ['foregroundDeletion'] };
    put({ ...set, metadata: deleted }, pod('other-0', { metadata: own }));
    await settle();
    assert.deepEqual(world.asked, ['updateStatus StatefulSet web']);
    assert.equal(status()?.replicas, 0);
  });

  it('only counts its pods while it is being deleted', async () => {
    const set = statefulSet(3, withData());
    const deleted = { ...set.metadata, deletionTimestamp: at(0), finalizers: ['foregroundDeletion'] };
    put({ ...set, metadata: deleted }, member(0));
    await settle();
    assert.deepEqual(world.asked, ['updateStatus StatefulSet web']);
    assert.deepEqual([status()?.replicas, status()?.readyReplicas], [1, 1]);
  });

  it('reports that another controller owns a claim, and removes its own owner reference', async () => {
    const owners = [ownedBy('Thing', 'x'), ownedBy('StatefulSet', 'web')];
    world.put(persistentVolumeClaimResource, claim('data-web-0', owners));
    put(statefulSet(1, withData({ whenDeleted: 'Delete' })));
    await settle();
    const { ownerReferences } =
      world.stored(persistentVolumeClaimResource, 'default/data-web-0')?.metadata ?? {};
    assert.deepEqual(ownerReferences, [ownedBy('Thing', 'x')]);
    assert.deepEqual(
      world.told.filter((told) => told.includes('Conflicting')),
      [
        'Warning ConflictingController web: PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim',
      ],
    );
  });

  it('corrects the labels of a pod, and reports when the server refuses that', async () => {
    put(statefulSet(1));
    await settle();
    const [one] = world.all(podResource) as [Pod];
    const { 'statefulset.kubernetes.io/pod-name': _, ...labels } = one.metadata.labels ?? {};
    world.put(podResource, { ...one, metadata: { ...one.metadata, labels } });
    world.refuse = (verb) => (verb === 'update' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key));
    assert.match(
      world.told.at(-1) ?? '',
      /^Warning FailedUpdate web: update Pod web-0 in StatefulSet web failed/,
    );
    world.refuse = () => undefined;
    await settle();
    assert.deepEqual(world.all(podResource)[0]?.metadata.labels, one.metadata.labels);
    assert.equal(
      world.told.at(-1),
      'Normal SuccessfulUpdate web: update Pod web-0 in StatefulSet web successful',
    );
  });

  it('is reconciled again when a pod becomes available', async () => {
    put(statefulSet(1, { minReadySeconds: 90 }), member(0, 'new'));
    world.put(podResource, member(0, 'new', { readyAt: (world.clock.now() - Date.parse(at(0))) / 1000 }));
    const result = await world.reconcile(key);
    assert.equal(result?.requeueAfter, 90_000);
  });

  it('is reconciled only when one of its own claims changes', () => {
    put(statefulSet(1, withData()));
    const keys = (name: string) => world.keysOf(persistentVolumeClaimResource, claim(name));
    assert.deepEqual(keys('data-web-7'), [key]);
    for (const name of ['data-web-', 'data-web-x', 'data-webs-0', 'logs-web-0', 'data'])
      assert.deepEqual(keys(name), []);
    const elsewhere = claim('data-web-7', [], { namespace: 'elsewhere' });
    assert.deepEqual(world.keysOf(persistentVolumeClaimResource, elsewhere), []);
  });

  it('is reconciled when one of its revisions changes or is deleted', async () => {
    put(statefulSet(1));
    await settle();
    const [own] = world.all(controllerRevisionResource);
    assert.deepEqual(own && world.keysOf(controllerRevisionResource, own), [key]);
  });

  it('writes the owners of a claim once, even if its cache does not show them', async () => {
    put(statefulSet(1, withData({ whenDeleted: 'Delete' })), member(0));
    world.put(persistentVolumeClaimResource, claim('data-web-0'));
    await world.reconcile(key);
    world.sync(podResource);
    world.sync(controllerRevisionResource);
    world.sync(statefulSetResource);
    const { length } = world.asked;
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.deepEqual(world.asked.slice(length), []);
    const owners = world.stored(persistentVolumeClaimResource, 'default/data-web-0')?.metadata
      .ownerReferences;
    assert.deepEqual(owners, [ownedBy('StatefulSet', 'web')]);
  });
});
