/** Pods that a ReplicaSet creates and deletes, where its cache lags and requests fail. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type ReplicaSet, replicaSetResource } from '../../../../../src/api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { podDraft } from '../../../../../src/controllers/workloads/pods/pod-draft.ts';
import { replicaSetController } from '../../../../../src/controllers/workloads/replicas/replica-set.ts';
import { at, ownedBy, pod, replicaSet } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';

const key = 'default/web';
const mine = { ownerReferences: [ownedBy('ReplicaSet', 'web')] };
const own = (name: string, over: Parameters<typeof pod>[1] = {}) =>
  pod(name, { readyAt: 0, ...over, metadata: { ...mine, ...over.metadata } });

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(replicaSetController);
});
const put = (set: ReplicaSet, ...pods: Pod[]) => {
  world.put(replicaSetResource, set);
  for (const one of pods) world.put(podResource, one);
};
const active = () =>
  world.all(podResource).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
const activeNames = () => active().map(({ metadata }) => metadata.name);
const status = () => world.stored(replicaSetResource, key)?.status;

describe('a ReplicaSet', () => {
  it('creates missing pods from its template, as their owner', async () => {
    put(replicaSet('web', 3));
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(active().length, 3);
    const [one] = active();
    assert.deepEqual(one?.metadata.ownerReferences, mine.ownerReferences);
    assert.deepEqual(one.metadata.labels, { app: 'web' });
    assert.deepEqual(
      world.told,
      activeNames().map((name) => `Normal SuccessfulCreate web: Created pod: ${name}`),
    );
  });

  it('has no pods in other namespaces, even if they name it as owner', async () => {
    const foreign = own('a', { metadata: { namespace: 'other' } });
    put(replicaSet('web', 1), foreign);
    await world.reconcile(key);
    assert.equal(active().length, 2, 'one is made');
    put(replicaSet('web', 0), foreign);
    world.take(podResource, `default/${activeNames().find((name) => name !== 'a')}`);
    world.sync(podResource);
    await world.reconcile(key);
    assert.deepEqual(activeNames(), ['a']);
  });

  it('creates no pod twice while the cache does not show the first ones', async () => {
    put(replicaSet('web', 2));
    await world.reconcile(key);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.equal(active().length, 2);
    world.sync(podResource);
    world.sync(replicaSetResource);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(active().length, 2);
    assert.equal(status()?.replicas, 2);
  });

  it('waits until the cache shows its written status and its created and deleted pods', async () => {
    for (const [replicas, pods] of [
      [2, []],
      [0, [own('a')]],
    ] as const) {
      for (const [first, second] of [
        [podResource, replicaSetResource],
        [replicaSetResource, podResource],
      ]) {
        world = new ScriptedWorld(replicaSetController);
        put(replicaSet('web', replicas), ...pods);
        await world.reconcile(key);
        world.sync(first as typeof podResource);
        assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
        world.sync(second as typeof podResource);
        assert.equal(await world.reconcile(key), undefined);
      }
    }
  });

  it('deletes excess pods, and reports which', async () => {
    put(
      replicaSet('web', 1),
      own('a'),
      own('b', { readyAt: undefined }),
      own('c', { phase: 'Pending', readyAt: undefined }),
    );
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(activeNames(), ['a']);
    assert.deepEqual(world.told.sort(), [
      'Normal SuccessfulDelete web: Deleted pod: b',
      'Normal SuccessfulDelete web: Deleted pod: c',
    ]);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  });

  it('deletes pods first on nodes with more pods of its siblings', async () => {
    const owner = { ownerReferences: [ownedBy('Deployment', 'parent')] };
    const set = replicaSet('web', 1);
    const sibling = replicaSet('other', 2);
    put(
      { ...set, metadata: { ...set.metadata, ...owner } },
      own('a', { spec: { nodeName: 'n1' } }),
      own('z', { spec: { nodeName: 'n2' } }),
    );
    world.put(replicaSetResource, { ...sibling, metadata: { ...sibling.metadata, ...owner } });
    for (const name of ['x', 'y'])
      world.put(
        podResource,
        pod(name, {
          spec: { nodeName: 'n2' },
          metadata: { ownerReferences: [ownedBy('ReplicaSet', 'other')] },
        }),
      );
    const stranger = replicaSet('stranger', 9);
    world.put(replicaSetResource, {
      ...stranger,
      metadata: { ...stranger.metadata, ownerReferences: [ownedBy('Deployment', 'another')] },
    });
    for (const name of ['q', 'r', 's'])
      world.put(
        podResource,
        pod(name, {
          spec: { nodeName: 'n1' },
          metadata: { ownerReferences: [ownedBy('ReplicaSet', 'stranger')] },
        }),
      );
    await world.reconcile(key);
    assert.deepEqual(activeNames(), ['a', 'q', 'r', 's', 'x', 'y']);
  });

  it('adopts matching pods without an owner, releases pods that do not match, and counts only its own', async () => {
    const other = { labels: { app: 'other' } };
    put(
      replicaSet('web', 2),
      pod('orphan', { readyAt: 0 }),
      own('stray', { metadata: other }),
      own('a'),
      pod('theirs', { metadata: { ownerReferences: [ownedBy('ReplicaSet', 'other')] } }),
    );
    world.put(podResource, pod('over', { phase: 'Failed' }));
    await world.reconcile(key);
    const ownerOf = (name: string) =>
      world.stored(podResource, `default/${name}`)?.metadata.ownerReferences?.map(({ uid }) => uid);
    assert.deepEqual(ownerOf('orphan'), ['uid-web']);
    assert.deepEqual(ownerOf('stray'), []);
    assert.equal(ownerOf('over'), undefined, 'one that has ended is not worth taking');
    assert.deepEqual(world.told, [], 'two are enough');
  });

  it('changes no pods while it is being deleted, and does nothing when it is deleted', async () => {
    const set = replicaSet('web', 5);
    put(
      { ...set, metadata: { ...set.metadata, deletionTimestamp: at(1), finalizers: ['example.com/f'] } },
      own('a'),
    );
    await world.reconcile(key);
    assert.deepEqual(activeNames(), ['a']);
    assert.equal(status()?.replicas, 1);
    assert.equal(await world.reconcile('default/none'), undefined);
  });

  it('is reconciled again when the next pod becomes available', async () => {
    const set = replicaSet('web', 1);
    put({ ...set, spec: { ...set.spec, minReadySeconds: 30 } }, own('a'));
    await world.clock.advance(10_000);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 20_000 });
  });

  it('writes its status once', async () => {
    put(replicaSet('web', 1), own('a'));
    await world.reconcile(key);
    world.sync(replicaSetResource);
    const before = world.asked.length;
    await world.reconcile(key);
    assert.equal(world.asked.length, before);
  });
});

describe('a failed creation', () => {
  it('is reported in the status and by an event, ends the batch, and is retried', async () => {
    put(replicaSet('web', 9));
    world.refuse = (verb) => (verb === 'create' ? newForbidden(podResource, 'x', 'quota') : undefined);
    await assert.rejects(world.reconcile(key), /quota/);
    assert.equal(
      world.asked.filter((request) => request.startsWith('create')).length,
      1,
      'few requests are sent if all creations fail',
    );
    const [condition] = status()?.conditions ?? [];
    assert.deepEqual([condition?.type, condition?.reason], ['ReplicaFailure', 'FailedCreate']);
    assert.match(condition?.message ?? '', /quota/);
    assert.match(world.told.join(), /^Warning FailedCreate web: Error creating: .*quota/);
  });

  it('in a namespace that is being deleted is reported in the status and not retried', async () => {
    put(replicaSet('web', 1));
    const causes = [{ reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' }];
    world.refuse = (verb) =>
      verb === 'create' ? newForbidden(podResource, 'x', 'it ends', causes) : undefined;
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(status()?.conditions?.[0]?.reason, 'FailedCreate');
    assert.deepEqual(world.told, []);
  });

  it('does not prevent other deletions', async () => {
    put(replicaSet('web', 0), own('a'), own('b'));
    world.refuse = (verb, name) => (verb === 'delete' && name === 'a' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(activeNames(), ['a']);
    assert.equal(status()?.conditions?.[0]?.reason, 'FailedDelete');
    assert.ok(world.told.some((line) => /^Warning FailedDelete web: Error deleting: .*no/.test(line)));
  });

  it('a pod that was already deleted does not count as excess', async () => {
    put(replicaSet('web', 0), own('a'));
    world.take(podResource, 'default/a');
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.told, []);
  });

  it('another pod of that name is not deleted instead', async () => {
    put(replicaSet('web', 0), own('a'));
    world.store(podResource, own('a', { metadata: { uid: 'later' } }));
    await assert.rejects(world.reconcile(key), /another by now/);
    assert.deepEqual(activeNames(), ['a']);
  });
});

describe('reconciled again', () => {
  it('is the ReplicaSet that owns a changed pod, or each that could adopt it', () => {
    world.seen.put(replicaSetResource, replicaSet('web', 1));
    const other = replicaSet('other', 1);
    world.seen.put(replicaSetResource, {
      ...other,
      spec: { ...other.spec, selector: { matchLabels: { app: 'other' } } },
    });
    const keys = (one: Pod) => world.keysOf(podResource, one);
    assert.deepEqual(keys(own('a')), [key]);
    assert.deepEqual(keys(pod('a', { metadata: { ownerReferences: [ownedBy('Job', 'web')] } })), []);
    assert.deepEqual(keys(pod('a')), [key]);
    const ofAnother = { ...ownedBy('ReplicaSet', 'web'), apiVersion: 'example.com/v1' };
    assert.deepEqual(keys(pod('a', { metadata: { ownerReferences: [ofAnother] } })), []);
    assert.deepEqual(keys(pod('a', { metadata: { namespace: 'elsewhere' } })), []);
    assert.deepEqual(keys(pod('a', { metadata: { labels: { app: 'x' } } })), []);
    assert.deepEqual(keys(pod('a', { metadata: { labels: undefined } })), []);
    assert.deepEqual(world.keysOf(replicaSetResource, replicaSet('web', 1)), [key]);
  });
});

it('includes a pod with all fields of the template', () => {
  const set = replicaSet('web', 1);
  set.spec.template.metadata = {
    labels: { app: 'web' },
    annotations: { note: 'n' },
    finalizers: ['example.com/f'],
  };
  const { spec, ...made } = podDraft(replicaSetResource, set, set.spec.template);
  assert.deepEqual(made, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'web-',
      namespace: 'default',
      labels: { app: 'web' },
      annotations: { note: 'n' },
      finalizers: ['example.com/f'],
      ownerReferences: mine.ownerReferences,
    },
  });
  assert.equal(spec.containers.length, 1);
});
