/** Writes of a DaemonSet where its cache lags, requests fail and other clients write too. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  type ControllerRevision,
  controllerRevisionResource,
} from '../../../../../src/api/apps/v1/controller-revision.ts';
import { type DaemonSet, daemonSetResource } from '../../../../../src/api/apps/v1/daemon-set.ts';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { daemonSetController } from '../../../../../src/controllers/workloads/daemons/daemon-set.ts';
import { revisionData } from '../../../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { at, meta, node, ownedBy } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { daemon, daemonSet } from './daemon-objects.ts';

const key = 'default/web';
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(daemonSetController);
});
const put = (set: DaemonSet, nodes: readonly string[], ...pods: Pod[]) => {
  world.put(daemonSetResource, set);
  for (const name of nodes) world.put(nodeResource, node(name));
  for (const one of pods) world.put(podResource, one);
};
const sync = () => {
  world.sync(podResource);
  world.sync(controllerRevisionResource);
  world.sync(daemonSetResource);
};
/** Reconciles until nothing is left to do. */
const settle = async () => {
  for (let round = 0; round < 20; round++) {
    sync();
    const before = world.asked.length;
    await world.reconcile(key);
    if (world.asked.length === before) return;
  }
  assert.fail('it never comes to rest');
};
const active = () => world.all(podResource).filter(({ metadata }) => !metadata.deletionTimestamp);
const revisions = () => world.all(controllerRevisionResource);
const withImage = (image: string, over: Parameters<typeof daemonSet>[0] = {}): DaemonSet => {
  const set = daemonSet(over);
  for (const container of set.spec.template.spec.containers) container.image = image;
  return set;
};
const revision = (name: string, number: number, image: string, owned = true): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: meta(name, {
    labels: { app: 'web', 'controller-revision-hash': name.slice(4) },
    ...(owned && { ownerReferences: [ownedBy('DaemonSet', 'web')] }),
  }),
  data: revisionData(withImage(image).spec.template),
  revision: number,
});
const status = () => world.stored(daemonSetResource, key)?.status;

describe('a DaemonSet', () => {
  it('creates a revision, and a pod of it for each node', async () => {
    put(daemonSet(), ['n1', 'n2']);
    await settle();
    const [one] = revisions();
    assert.equal(revisions().length, 1);
    assert.equal(one?.revision, 1);
    assert.deepEqual(one.metadata.ownerReferences, [ownedBy('DaemonSet', 'web')]);
    const hash = one.metadata.labels?.['controller-revision-hash'];
    assert.equal(one.metadata.name, `web-${hash}`);
    assert.equal(active().length, 2);
    for (const { metadata, spec } of active()) {
      assert.equal(spec.containers[0]?.image, 'app:1');
      assert.deepEqual(metadata.labels, { app: 'web', 'controller-revision-hash': hash });
      assert.deepEqual(metadata.ownerReferences, [ownedBy('DaemonSet', 'web')]);
    }
    assert.deepEqual(
      [status()?.desiredNumberScheduled, status()?.currentNumberScheduled, status()?.observedGeneration],
      [2, 2, 1],
    );
  });

  for (const hidden of ['Pod', 'ControllerRevision', 'DaemonSet'])
    it(`decides nothing before its cache shows its last write of kind ${hidden}`, async () => {
      put(daemonSet(), ['n1', 'n2']);
      await world.reconcile(key);
      const asked = world.asked.length;
      if (hidden !== 'Pod') world.sync(podResource);
      if (hidden !== 'ControllerRevision') world.sync(controllerRevisionResource);
      if (hidden !== 'DaemonSet') world.sync(daemonSetResource);
      assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
      assert.equal(world.asked.length, asked);
    });

  it('is reconciled after changes of itself, of its pods and of pods that it may adopt', async () => {
    const loose = daemon('loose', 'n1', 'x', { metadata: { labels: { app: 'web' }, ownerReferences: [] } });
    put(daemonSet(), ['n1'], loose);
    assert.deepEqual(world.keysOf(daemonSetResource, daemonSet()), [key]);
    assert.deepEqual(world.keysOf(podResource, daemon('a', 'n1')), [key]);
    assert.deepEqual(world.keysOf(podResource, loose), [key]);
    assert.deepEqual(world.keysOf(controllerRevisionResource, revision('web-one', 1, 'app:1')), [key]);
    await world.reconcile(key);
    const taken = world.stored(podResource, 'default/loose');
    assert.deepEqual(taken?.metadata.ownerReferences, [ownedBy('DaemonSet', 'web')]);
  });

  it('continues after a restart with its revision and with the pods that it has created', async () => {
    put(daemonSet(), ['n1', 'n2', 'n3']);
    world.refuse = (verb, name) =>
      verb === 'create' && active().length === 1 && name.startsWith('web-')
        ? newInternalError('no')
        : undefined;
    await assert.rejects(world.reconcile(key));
    assert.equal(active().length, 1);
    const again = new ScriptedWorld(daemonSetController);
    for (const pod of world.all(podResource))
      again.put(podResource, { ...pod, metadata: { ...pod.metadata, name: 'made' } });
    for (const one of revisions()) again.store(controllerRevisionResource, one);
    world = again;
    put(daemonSet(), ['n1', 'n2', 'n3']);
    // The cache does not show the revision yet.
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.equal(status()?.collisionCount, undefined);
    await settle();
    assert.deepEqual([active().length, revisions().length], [3, 1]);
  });

  it('reports that a pod was rejected, creates no further pods, and sets its status', async () => {
    put(daemonSet(), ['n1', 'n2', 'n3']);
    world.refuse = (verb, name) =>
      verb === 'create' && /^web-\d{1,3}$/.test(name)
        ? newForbidden(podResource, name, 'over quota')
        : undefined;
    await assert.rejects(world.reconcile(key), /orbidden/);
    assert.equal(world.asked.filter((asked) => asked.startsWith('create Pod')).length, 1);
    assert.match(world.told.join(), /^Warning FailedCreate web: Error creating: /);
    assert.equal(status()?.desiredNumberScheduled, 3);
  });

  it('gives its revision another name if that is taken', async () => {
    put(daemonSet(), ['n1']);
    await settle();
    const [own] = revisions() as [ControllerRevision];
    world = new ScriptedWorld(daemonSetController);
    put(daemonSet(), ['n1']);
    world.store(controllerRevisionResource, {
      ...own,
      metadata: { ...own.metadata, labels: {}, ownerReferences: [ownedBy('StatefulSet', 'web2')] },
    });
    await settle();
    assert.equal(status()?.collisionCount, 1);
    assert.equal(revisions().length, 2);
    assert.equal(active().length, 1);
  });

  it('reuses an earlier revision of the same template with a new number', async () => {
    put(withImage('app:1'), [], daemon('a', 'n1', 'one'));
    world.put(controllerRevisionResource, revision('web-one', 1, 'app:1'));
    world.put(controllerRevisionResource, revision('web-two', 2, 'app:2'));
    await settle();
    assert.deepEqual(
      revisions().map(({ metadata, revision: number }) => [metadata.name, number]),
      [
        ['web-one', 3],
        ['web-two', 2],
      ],
    );
  });

  it('merges equal revisions, and moves their pods to the remaining one', async () => {
    put(withImage('app:1'), ['n1', 'n2'], daemon('a', 'n1', 'one'), daemon('b', 'n2', 'two'));
    for (const [name, number] of [
      ['web-one', 1],
      ['web-two', 2],
    ] as const)
      world.put(controllerRevisionResource, revision(name, number, 'app:1', false));
    world.put(controllerRevisionResource, revision('web-old', 1, 'app:0'));
    const first = await world.reconcile(key);
    assert.equal(revisions().length, 3, 'whoever made it may be at work with both');
    await world.clock.advance(first?.requeueAfter ?? 0);
    world.sync(controllerRevisionResource);
    await world.reconcile(key);
    // The cache shows the removal of the revision before it shows the label of the pod.
    world.sync(controllerRevisionResource);
    world.sync(daemonSetResource);
    await world.reconcile(key);
    assert.equal(active().length, 2);
    await settle();
    assert.deepEqual(
      revisions().map(({ metadata }) => metadata.name),
      ['web-old', 'web-two'],
    );
    assert.deepEqual(
      active().map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.equal(status()?.updatedNumberScheduled, 2);
  });

  it('does not label another pod with the name of a pod whose revision it merges', async () => {
    put(withImage('app:1'), ['n1'], daemon('a', 'n1', 'one'));
    for (const [name, number] of [
      ['web-one', 1],
      ['web-two', 2],
    ] as const)
      world.put(controllerRevisionResource, revision(name, number, 'app:1'));
    const later = daemon('a', 'n1', 'three', { metadata: { uid: 'later', labels: { app: 'x' } } });
    world.store(podResource, later);
    await world.clock.advance(60_000);
    await assert.rejects(world.reconcile(key), /it has changed/);
    assert.deepEqual(world.stored(podResource, 'default/a')?.metadata.labels, { app: 'x' });
    assert.equal(revisions().length, 2, 'it is tried again');
  });

  it('deletes the oldest revisions beyond its limit, and no revision of an existing pod', async () => {
    put(
      withImage('app:9', { revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } }),
      ['n1'],
      daemon('a', 'n1', 'v1'),
    );
    for (const number of [1, 2, 3, 4])
      world.put(controllerRevisionResource, revision(`web-v${number}`, number, `app:${number}`));
    await settle();
    const [made, ...kept] = revisions().map(({ metadata }) => metadata.name);
    assert.match(String(made), /^web-/);
    assert.equal(revisions().length, 2);
    assert.ok([made, ...kept].includes('web-v1'));
  });

  it('waits longer each time before it replaces a pod that fails repeatedly', async () => {
    put(daemonSet(), ['n1']);
    await settle();
    const waits: unknown[] = [];
    for (let time = 0; time < 3; time++) {
      const [pod] = active() as [Pod];
      world.put(podResource, { ...pod, status: { phase: 'Failed' } });
      const result = await world.reconcile(key);
      waits.push(result?.requeueAfter);
      if (result?.requeueAfter) {
        await world.clock.advance(result.requeueAfter);
        await world.reconcile(key);
      }
      world.take(podResource, `default/${pod.metadata.name}`);
      sync();
      await settle();
    }
    assert.deepEqual(waits, [undefined, 1_000, 2_000]);
    const failed =
      /^Warning FailedDaemonPod web: Found failed daemon pod default\/\S+ on node n1, will try to kill it$/;
    assert.equal(world.told.filter((told) => failed.test(told)).length, 3);
  });

  it('removes a pod that succeeded, with an event', async () => {
    put(daemonSet(), ['n1']);
    await settle();
    const [pod] = active() as [Pod];
    world.put(podResource, { ...pod, status: { phase: 'Succeeded' } });
    await world.reconcile(key);
    assert.deepEqual(active(), []);
    const { name } = pod.metadata;
    assert.ok(
      world.told.includes(
        `Normal SucceededDaemonPod web: Found succeeded daemon pod default/${name} on node n1, will try to delete it`,
      ),
    );
  });

  it('removes 250 failed pods at once, and reports no others', async () => {
    const failed = Array.from({ length: 300 }, (_, index) =>
      daemon(`d${index}`, `n${index}`, 'x', { phase: 'Failed' }),
    );
    put(
      daemonSet(),
      failed.map(({ spec }) => String(spec.nodeName)),
      ...failed,
    );
    await world.reconcile(key);
    assert.equal(active().length, 50);
    assert.equal(world.told.filter((told) => told.includes('FailedDaemonPod')).length, 250);
  });

  it('removes surplus pods even if it could not create missing pods', async () => {
    put(daemonSet(), ['n1', 'n2'], daemon('a', 'n2', 'x', { phase: 'Failed' }));
    world.refuse = (verb, name) =>
      verb === 'create' && /^web-\d{1,3}$/.test(name) ? newInternalError('no') : undefined;
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(active(), []);
  });

  it('reports that its revision was rejected', async () => {
    put(daemonSet(), ['n1']);
    world.refuse = (verb) =>
      verb === 'create' ? newForbidden(controllerRevisionResource, 'x', 'over quota') : undefined;
    await assert.rejects(world.reconcile(key));
    assert.match(world.told.join(), /^Warning FailedCreate web: Error creating revision: .*over quota/);
    assert.deepEqual(active(), []);
  });

  it('retries if the revision that it would renumber was deleted', async () => {
    put(withImage('app:1'), ['n1']);
    world.put(controllerRevisionResource, revision('web-one', 1, 'app:1'));
    world.put(controllerRevisionResource, revision('web-two', 2, 'app:2'));
    world.take(controllerRevisionResource, 'default/web-one');
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.deepEqual(active(), []);
  });

  it('is reconciled again when the first of its pods becomes available', async () => {
    const set = daemonSet({ minReadySeconds: 90, updateStrategy: { type: 'OnDelete' } });
    const since = (world.clock.now() - Date.parse(at(0))) / 1000;
    const pods = [0, 10].map((later) => daemon(`d${later}`, `n${later}`, 'x', { readyAt: since - later }));
    put(set, ['n0', 'n10'], ...pods);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 80_000 });
  });

  it('does nothing while it is being deleted, and adopts no pod then', async () => {
    const set = daemonSet();
    put({ ...set, metadata: { ...set.metadata, deletionTimestamp: at(0) } }, ['n1'], daemon('a', 'n2'));
    await settle();
    assert.deepEqual(world.asked, []);
  });

  it('creates 250 pods at once', async () => {
    put(
      daemonSet(),
      Array.from({ length: 600 }, (_, index) => `n${index}`),
    );
    const counts: number[] = [];
    for (let round = 0; round < 4; round++) {
      await world.reconcile(key);
      sync();
      counts.push(active().length);
    }
    assert.deepEqual(counts, [250, 500, 600, 600]);
  });
});

describe('a node', () => {
  const woken = () => {
    world.enqueued.length = 0;
    return world.enqueued;
  };

  it('causes a reconciliation of the DaemonSets that it concerns when it is added, removed or changed', () => {
    put(daemonSet({}, { nodeSelector: { disk: 'ssd' } }), []);
    const keys = woken();
    world.put(nodeResource, node('n1'));
    assert.deepEqual(keys, []);
    world.put(nodeResource, node('n1', { labels: { disk: 'ssd' } }));
    assert.deepEqual(keys, [key]);
    world.put(
      nodeResource,
      node('n1', { labels: { disk: 'ssd' }, taints: [{ key: 'a', effect: 'NoExecute' }] }),
    );
    world.put(nodeResource, node('n1', { labels: { disk: 'ssd' } }));
    assert.equal(keys.length, 3);
    world.seen.remove(nodeResource, 'n1');
    assert.equal(keys.length, 4);
    const repelled = { labels: { disk: 'ssd' }, taints: [{ key: 'a', effect: 'NoSchedule' as const }] };
    world.put(nodeResource, node('n2', repelled));
    assert.equal(keys.length, 4, 'nothing comes there');
    const executed = [...repelled.taints, { key: 'b', effect: 'NoExecute' as const }];
    world.put(nodeResource, node('n2', { ...repelled, taints: executed }));
    assert.equal(keys.length, 5, 'nothing stays there either');
  });

  it('causes no reconciliation when only its status changes', () => {
    put(daemonSet(), ['n1']);
    const keys = woken();
    world.put(nodeResource, node('n1', { ready: 'False' }));
    world.put(nodeResource, node('n1', { labels: { of: 'no interest' } }));
    assert.deepEqual(keys, []);
  });
});
