/** Writes of a StatefulSet where its caches lag, requests fail and other clients write too. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { type StatefulSet, statefulSetResource } from '../../../../../src/api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { revisionData } from '../../../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { statefulSetController } from '../../../../../src/controllers/workloads/stateful/stateful-set.ts';
import { at, meta, ownedBy, pod } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { claim, member, parallel, statefulSet, withData } from './stateful-objects.ts';

const key = 'default/web';
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(statefulSetController);
});
const put = (set: StatefulSet, ...pods: Pod[]) => {
  world.put(statefulSetResource, set);
  for (const one of pods) world.put(podResource, one);
};
const sync = () => {
  world.sync(podResource);
  world.sync(controllerRevisionResource);
  world.sync(persistentVolumeClaimResource);
  world.sync(statefulSetResource);
};
/** Reconciles until nothing is left to do: every created pod becomes ready, and every deleted pod ends. */
const settle = async () => {
  for (let round = 0; round < 60; round++) {
    for (const one of world.all(podResource)) {
      if (one.metadata.deletionTimestamp) world.take(podResource, `default/${one.metadata.name}`);
      else if (!one.status) world.store(podResource, { ...one, status: pod('x', { readyAt: 0 }).status });
    }
    sync();
    const before = world.asked.length;
    await world.reconcile(key);
    if (world.asked.length === before) return;
  }
  assert.fail('it never comes to rest');
};
const withImage = (set: StatefulSet, image: string): StatefulSet => {
  const [container] = set.spec.template.spec.containers;
  const spec = { ...set.spec.template.spec, containers: [{ ...container, name: 'app', image }] };
  const template = { ...set.spec.template, spec: spec as Pod['spec'] };
  return { ...set, spec: { ...set.spec, template } };
};
const status = () => world.stored(statefulSetResource, key)?.status;
const change = (to: (set: StatefulSet) => StatefulSet) => {
  const set = to(world.stored(statefulSetResource, key) as StatefulSet);
  world.put(statefulSetResource, set);
};
const imagesOf = () =>
  Object.fromEntries(world.all(podResource).map((one) => [one.metadata.name, one.spec.containers[0]?.image]));

describe('a StatefulSet', () => {
  it('makes its pods, and reports it with its own messages', async () => {
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

  for (const hidden of ['Pod', 'ControllerRevision', 'PersistentVolumeClaim', 'StatefulSet'])
    it(`decides nothing before its cache shows its last write of kind ${hidden}`, async () => {
      put(statefulSet(2, { ...withData(), ...parallel }));
      await world.reconcile(key);
      const asked = world.asked.length;
      if (hidden !== 'Pod') world.sync(podResource);
      if (hidden !== 'ControllerRevision') world.sync(controllerRevisionResource);
      if (hidden !== 'PersistentVolumeClaim') world.sync(persistentVolumeClaimResource);
      if (hidden !== 'StatefulSet') world.sync(statefulSetResource);
      assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
      assert.equal(world.asked.length, asked);
    });

  it('waits for a revision of its own that the cache does not show, and for a claim that it created earlier', async () => {
    put(statefulSet(1, withData()));
    await settle();
    const [revision] = world.all(controllerRevisionResource);
    assert.ok(revision);
    world = new ScriptedWorld(statefulSetController);
    put(statefulSet(1, withData()));
    world.store(controllerRevisionResource, revision);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.deepEqual([world.names(podResource), status()], [[], undefined]);
    world.sync(controllerRevisionResource);
    world.store(persistentVolumeClaimResource, claim('data-web-0'));
    await world.reconcile(key);
    world.sync(podResource);
    world.sync(statefulSetResource);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  });

  it('is silent in a namespace that ends', async () => {
    put(statefulSet(1, withData()));
    const causes = [{ reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' }];
    const ends = newForbidden(podResource, 'x', 'it ends', causes);
    for (const name of [/^data-/, /^web-0$/, /^web-\w{5}/]) {
      world.refuse = (verb, made) => (verb === 'create' && name.test(made) ? ends : undefined);
      await world.reconcile(key);
      world.take(persistentVolumeClaimResource, 'default/data-web-0');
      for (const one of world.names(controllerRevisionResource))
        world.take(controllerRevisionResource, `default/${one}`);
      world = Object.assign(new ScriptedWorld(statefulSetController), { told: world.told });
      put(statefulSet(1, withData()));
    }
    assert.deepEqual(
      world.told.filter((told) => told.startsWith('Warning')),
      [],
    );
  });

  it('rolls a template out and back, and keeps the numbers of both', async () => {
    put(withImage(statefulSet(2), 'app:1'));
    await settle();
    const before = status()?.currentRevision;
    change((set) => withImage(set, 'app:2'));
    await world.reconcile(key);
    sync();
    assert.equal(status()?.currentRevision, before);
    assert.notEqual(status()?.updateRevision, before);
    assert.deepEqual([status()?.currentReplicas, status()?.updatedReplicas], [1, undefined]);
    await settle();
    assert.deepEqual(imagesOf(), { 'web-0': 'app:2', 'web-1': 'app:2' });
    assert.equal(status()?.currentRevision, status()?.updateRevision);
    change((set) => withImage(set, 'app:1'));
    await settle();
    assert.deepEqual([status()?.currentRevision, status()?.updateRevision], [before, before]);
    const numbers = world.all(controllerRevisionResource).map(({ revision }) => revision);
    assert.deepEqual(numbers.sort(), [2, 3]);
  });

  it('uses no template from another namespace, whatever owner that names', async () => {
    const plain = withImage(statefulSet(1), 'app:1');
    const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { partition: 1 } };
    const mine = { ...plain, spec: { ...plain.spec, updateStrategy } };
    const evil = revisionData(withImage(mine, 'evil:1').spec.template);
    const metadata = meta('web-evil', {
      namespace: 'other',
      labels: { app: 'web' },
      ownerReferences: [ownedBy('StatefulSet', 'web')],
    });
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data: evil, revision: 1 };
    world.put(controllerRevisionResource, revision as never);
    put({ ...mine, status: { replicas: 0, currentRevision: 'web-evil', currentReplicas: 1 } as never });
    await settle();
    assert.deepEqual(imagesOf(), { 'web-0': 'app:1' });
    assert.ok(world.stored(controllerRevisionResource, 'other/web-evil'));
  });

  it('deletes the oldest revisions beyond its limit, and none in use', async () => {
    put(
      withImage(statefulSet(1, { revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } }), 'app:0'),
    );
    await settle();
    const first = status()?.updateRevision;
    for (const image of ['app:1', 'app:2', 'app:3']) {
      change((set) => withImage(set, image));
      await settle();
    }
    const numbers = world.all(controllerRevisionResource).map(({ revision }) => revision);
    // Revisions: the pod's, the newest, and one more.
    assert.deepEqual(numbers.sort(), [1, 3, 4]);
    assert.ok(world.names(controllerRevisionResource).includes(String(first)));
  });

  it('deletes no revision of an existing pod, even if it is neither the newest nor the previous one', async () => {
    const all = { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' as const } };
    put(withImage(statefulSet(2, all), 'app:0'));
    await settle();
    change((set) => withImage(set, 'app:1'));
    await settle();
    world.take(podResource, 'default/web-1');
    await settle();
    for (const image of ['app:2', 'app:3']) {
      change((set) => withImage(set, image));
      await settle();
    }
    assert.deepEqual(imagesOf(), { 'web-0': 'app:0', 'web-1': 'app:1' });
    const numbers = world.all(controllerRevisionResource).map(({ revision }) => revision);
    assert.deepEqual(numbers.sort(), [1, 2, 4]);
  });

  it('decides nothing before its cache shows that a revision is deleted', async () => {
    put(withImage(statefulSet(1, { revisionHistoryLimit: 0 }), 'app:0'));
    await settle();
    const [first] = world.all(controllerRevisionResource);
    assert.ok(first);
    const unused = { ...first, metadata: { ...first.metadata, name: 'web-unused', uid: 'unused' } };
    world.put(controllerRevisionResource, { ...unused, data: { other: true }, revision: 0 });
    await world.reconcile(key);
    assert.deepEqual(world.names(controllerRevisionResource), [first.metadata.name]);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  });

  it('deletes no other revision that has taken the name', async () => {
    put(withImage(statefulSet(1, { revisionHistoryLimit: 0 }), 'app:0'));
    await settle();
    const [first] = world.names(controllerRevisionResource);
    change((set) => withImage(set, 'app:1'));
    const later = world.stored(controllerRevisionResource, `default/${first}`);
    assert.ok(later);
    const metadata = { ...later.metadata, uid: 'later', labels: { app: 'x' } };
    world.refuse = (verb, name) => {
      if (verb === 'delete' && name === first)
        world.store(controllerRevisionResource, { ...later, metadata });
      return undefined;
    };
    await assert.rejects(settle(), /another by now/);
    assert.ok(world.stored(controllerRevisionResource, `default/${first}`));
  });

  it("creates a pod below the partition from the set's template if the stored revision is invalid", async () => {
    const set = statefulSet(1, {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    });
    const owned = { labels: { app: 'web' }, ownerReferences: [ownedBy('StatefulSet', 'web')] };
    world.put(controllerRevisionResource, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: meta('hostile', owned),
      data: { spec: { template: { spec: 'none' } } },
      revision: 1,
    });
    put({ ...set, status: { replicas: 0, availableReplicas: 0, currentRevision: 'hostile' } });
    await settle();
    assert.deepEqual(imagesOf(), { 'web-0': 'app:1' });
  });

  it('continues after a restart: with the claim of a pod that it had not created yet', async () => {
    put(statefulSet(1, withData()));
    world.refuse = (verb, name) =>
      verb === 'create' && name === 'web-0' ? newInternalError('no') : undefined;
    await assert.rejects(world.reconcile(key));
    const [made] = world.all(persistentVolumeClaimResource);
    const [revision] = world.all(controllerRevisionResource);
    assert.ok(made && revision);
    world = new ScriptedWorld(statefulSetController);
    put(statefulSet(1, withData()));
    // The cache does not show the claim yet.
    world.store(persistentVolumeClaimResource, made);
    world.put(controllerRevisionResource, revision);
    await world.reconcile(key);
    assert.deepEqual(world.names(podResource), ['web-0']);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    await settle();
    assert.deepEqual(world.names(persistentVolumeClaimResource), ['data-web-0']);
  });

  it('makes no pod without its claim, and says why', async () => {
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

  it('adopts a pod of its name, and none that is only labelled as its own', async () => {
    const bare = { labels: { app: 'web' }, ownerReferences: [] };
    put(statefulSet(1), member(0, 'new', { metadata: bare }), pod('loose', { metadata: bare }));
    await world.reconcile(key);
    const owners = (name: string) => world.stored(podResource, `default/${name}`)?.metadata.ownerReferences;
    assert.deepEqual(owners('web-0'), [ownedBy('StatefulSet', 'web')]);
    assert.deepEqual(owners('loose'), []);
    assert.deepEqual(world.keysOf(podResource, pod('loose', { metadata: bare })), []);
  });

  it('releases its own pods of other names, and those of other labels', async () => {
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

  it('keeps them while it is deleted', async () => {
    const own = { labels: { app: 'web' }, ownerReferences: [ownedBy('StatefulSet', 'web')] };
    const set = statefulSet(1);
    const deleted = { ...set.metadata, deletionTimestamp: at(0), finalizers: ['foregroundDeletion'] };
    put({ ...set, metadata: deleted }, pod('other-0', { metadata: own }));
    await settle();
    assert.deepEqual(world.asked, ['updateStatus StatefulSet web']);
    assert.equal(status()?.replicas, 0);
  });

  it('counts its pods while it is deleted, and does nothing else', async () => {
    const set = statefulSet(3, withData());
    const deleted = { ...set.metadata, deletionTimestamp: at(0), finalizers: ['foregroundDeletion'] };
    put({ ...set, metadata: deleted }, member(0));
    await settle();
    assert.deepEqual(world.asked, ['updateStatus StatefulSet web']);
    assert.deepEqual([status()?.replicas, status()?.readyReplicas], [1, 1]);
  });

  it('gives its revision another name if that is taken, even by an equal one', async () => {
    put(statefulSet(1));
    await settle();
    const [own] = world.all(controllerRevisionResource);
    assert.ok(own);
    assert.deepEqual(own.data, revisionData(statefulSet(1).spec.template));
    world = new ScriptedWorld(statefulSetController);
    put(statefulSet(1));
    const ownerReferences = [ownedBy('DaemonSet', 'web')].map((owner) => ({ ...owner, uid: 'another' }));
    world.put(controllerRevisionResource, { ...own, metadata: { ...own.metadata, ownerReferences } });
    await settle();
    assert.equal(status()?.collisionCount, 1);
    assert.equal(world.names(controllerRevisionResource).length, 2);
    assert.deepEqual(world.names(podResource), ['web-0']);
  });

  it('reports that another controller has a claim, and takes its own name off it', async () => {
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

  it('keeps its history while something fails', async () => {
    put(withImage(statefulSet(1, { revisionHistoryLimit: 0 }), 'app:1'));
    await settle();
    change((set) => withImage(set, 'app:2'));
    await settle();
    assert.equal(world.names(controllerRevisionResource).length, 1);
    change((set) => withImage(set, 'app:3'));
    world.refuse = (verb, name) =>
      verb === 'delete' && name === 'web-0' ? newInternalError('no') : undefined;
    await assert.rejects(world.reconcile(key));
    assert.match(
      world.told.at(-1) ?? '',
      /^Warning FailedDelete web: delete Pod web-0 in StatefulSet web failed/,
    );
    assert.equal(world.names(controllerRevisionResource).length, 2);
  });

  it('mends the labels of a pod, and reports when it may not', async () => {
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

  it('is reconciled when one of its claims changes, not when another one’s does', () => {
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
