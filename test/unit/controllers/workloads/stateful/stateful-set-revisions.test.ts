/** The controller of StatefulSets: its revisions, and its actions while its cache lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { type StatefulSet, statefulSetResource } from '../../../../../src/api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { revisionData } from '../../../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { statefulSetController } from '../../../../../src/controllers/workloads/stateful/stateful-set.ts';
import { meta, ownedBy } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { claim, parallel, statefulSet, withData } from './stateful-objects.ts';
import { key, put, replaceWorld, settle, startStatefulWorld, status, sync, world } from './stateful-world.ts';

startStatefulWorld();

const withImage = (set: StatefulSet, image: string): StatefulSet => {
  const [container] = set.spec.template.spec.containers;
  const spec = { ...set.spec.template.spec, containers: [{ ...container, name: 'app', image }] };
  const template = { ...set.spec.template, spec: spec as Pod['spec'] };
  return { ...set, spec: { ...set.spec, template } };
};

const change = (to: (set: StatefulSet) => StatefulSet) => {
  const set = to(world.stored(statefulSetResource, key) as StatefulSet);
  world.put(statefulSetResource, set);
};

const imagesOf = () =>
  Object.fromEntries(world.all(podResource).map((one) => [one.metadata.name, one.spec.containers[0]?.image]));

describe('a StatefulSet', () => {
  for (const hidden of ['Pod', 'ControllerRevision', 'PersistentVolumeClaim', 'StatefulSet'])
    it(`waits until the cache shows its last write of kind ${hidden}`, async () => {
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
    replaceWorld(new ScriptedWorld(statefulSetController));
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

  it('uses no revision from another namespace, even if it names the set as owner', async () => {
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

  it('waits until the cache shows that a revision is deleted', async () => {
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

  it('does not delete another revision with the same name', async () => {
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

  it('continues after a restart with the claim of a pod that it had not created yet', async () => {
    put(statefulSet(1, withData()));
    world.refuse = (verb, name) =>
      verb === 'create' && name === 'web-0' ? newInternalError('no') : undefined;
    await assert.rejects(world.reconcile(key));
    const [made] = world.all(persistentVolumeClaimResource);
    const [revision] = world.all(controllerRevisionResource);
    assert.ok(made && revision);
    replaceWorld(new ScriptedWorld(statefulSetController));
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

  it('gives its revision another name if its name is taken, even by a revision with equal content', async () => {
    put(statefulSet(1));
    await settle();
    const [own] = world.all(controllerRevisionResource);
    assert.ok(own);
    assert.deepEqual(own.data, revisionData(statefulSet(1).spec.template));
    replaceWorld(new ScriptedWorld(statefulSetController));
    put(statefulSet(1));
    const ownerReferences = [ownedBy('DaemonSet', 'web')].map((owner) => ({ ...owner, uid: 'another' }));
    world.put(controllerRevisionResource, { ...own, metadata: { ...own.metadata, ownerReferences } });
    await settle();
    assert.equal(status()?.collisionCount, 1);
    assert.equal(world.names(controllerRevisionResource).length, 2);
    assert.deepEqual(world.names(podResource), ['web-0']);
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
});
