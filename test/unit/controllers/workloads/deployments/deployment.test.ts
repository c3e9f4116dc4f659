/** Execution of a Deployment's plan where the cache lags, names collide and requests fail. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../../../src/api/apps/v1/deployment.ts';
import { type ReplicaSet, replicaSetResource } from '../../../../../src/api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ObjectMeta } from '../../../../../src/apimachinery/meta.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { deploymentController } from '../../../../../src/controllers/workloads/deployments/deployment.ts';
import { deployment, ownedBy, pod, replicaSet } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';

const key = 'default/web';
const revision = 'deployment.kubernetes.io/revision';
const mine = { ownerReferences: [ownedBy('Deployment', 'web')] };
const withMeta = <T extends ReplicaSet | Deployment | Pod>(one: T, over: Partial<ObjectMeta>): T => ({
  ...one,
  metadata: { ...one.metadata, ...over },
});

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(deploymentController);
});
const sync = () => {
  for (const ref of [deploymentResource, replicaSetResource]) world.sync(ref as typeof deploymentResource);
};
const stored = () => world.stored(deploymentResource, key) ?? assert.fail('no Deployment');
const sets = () => world.all(replicaSetResource);
const sizes = () => sets().map(({ spec }) => spec.replicas);
/** Reconciles until there is nothing more to write; every pod is there at once. */
async function settle(): Promise<void> {
  for (let round = 0; round < 30; round++) {
    sync();
    const before = world.asked.length;
    await world.reconcile(key);
    if (world.asked.length === before) return;
    for (const set of sets()) {
      const { replicas } = set.spec;
      const status = {
        replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        observedGeneration: 1,
      };
      world.store(replicaSetResource, { ...withMeta(set, { generation: 1 }), status });
    }
  }
  assert.fail('it does not come to rest');
}
const edit = (change: (one: Deployment) => void) => {
  const next = structuredClone(stored());
  change(next);
  world.put(deploymentResource, next);
};
const image = (name: string) => (one: Deployment) => {
  const [first] = one.spec.template.spec.containers;
  if (first) first.image = name;
};

describe('a Deployment', () => {
  it('removes no other ReplicaSet that has the name of an old one by now', async () => {
    world.put(deploymentResource, deployment(1, { revisionHistoryLimit: 0 }));
    await settle();
    const [old] = sets();
    assert.ok(old);
    edit(image('app:2'));
    world.refuse = (verb, name) => {
      if (verb === 'delete' && name === old.metadata.name)
        world.store(replicaSetResource, withMeta(old, { uid: 'later' }));
      return undefined;
    };
    await assert.rejects(settle(), /another by now/);
    assert.equal(world.stored(replicaSetResource, `default/${old.metadata.name}`)?.metadata.uid, 'later');
  });

  it('creates a ReplicaSet, with an event', async () => {
    world.put(deploymentResource, deployment(2));
    await world.reconcile(key);
    const [set, ...more] = sets();
    assert.deepEqual([set?.spec.replicas, more], [2, []]);
    assert.deepEqual(set?.metadata.ownerReferences, mine.ownerReferences);
    assert.equal(stored().metadata.annotations?.[revision], '1');
    assert.equal(
      stored().status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetCreated'),
      true,
    );
    assert.deepEqual(world.told, [
      `Normal ScalingReplicaSet web: Scaled up replica set ${set?.metadata.name} from 0 to 2`,
    ]);
  });

  it('decides nothing while the cache does not show its own writes', async () => {
    world.put(deploymentResource, deployment(2));
    await world.reconcile(key);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    world.sync(replicaSetResource);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter }, 'its own status as well');
    world.sync(deploymentResource);
    const result = await world.reconcile(key);
    assert.ok(result?.requeueAfter !== undefined && result.requeueAfter > verifyAfter, 'its deadline');
    assert.equal(sets().length, 1);
  });

  it('waits for each of its writes separately', async () => {
    world.put(deploymentResource, deployment(2, { revisionHistoryLimit: 0 }));
    await settle();
    edit(({ spec }) => {
      spec.replicas = 3;
    });
    const waits = async () => (await world.reconcile(key))?.requeueAfter === verifyAfter;
    sync();
    await world.reconcile(key);
    world.sync(deploymentResource);
    assert.equal(await waits(), true, 'for the new size');
    await settle();
    edit(image('app:2'));
    sync();
    await world.reconcile(key);
    world.sync(deploymentResource);
    assert.equal(await waits(), true, 'for a new ReplicaSet');
    await settle();
    const [set] = sets();
    assert.ok(set);
    const former = withMeta(set, { name: 'web-former', uid: 'former', annotations: { [revision]: '1' } });
    const template = deployment(1, {}, 'app:0').spec.template;
    const status = { replicas: 0, observedGeneration: 1 };
    world.put(replicaSetResource, { ...former, spec: { ...former.spec, replicas: 0, template }, status });
    await world.reconcile(key);
    assert.deepEqual(
      sets().map(({ metadata }) => metadata.name),
      [set.metadata.name],
    );
    assert.equal(await waits(), true, 'for one that goes');
  });

  it('keeps its annotations, copies them, and reports only sizes', async () => {
    world.put(deploymentResource, withMeta(deployment(2), { annotations: { note: 'a' } }));
    await settle();
    assert.equal(stored().metadata.annotations?.note, 'a');
    const told = world.told.length;
    edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, note: 'b' };
    });
    await settle();
    assert.equal(sets()[0]?.metadata.annotations?.note, 'b');
    assert.equal(world.told.length, told);
  });

  it('with 0 replicas has no event when it creates its ReplicaSet', async () => {
    world.put(deploymentResource, deployment(0));
    await settle();
    assert.deepEqual([sizes(), world.told], [[0], []]);
  });

  it('rolls out with an event for each step, deletes old sets above the history limit, and stops', async () => {
    world.put(deploymentResource, deployment(2, { revisionHistoryLimit: 0 }));
    await settle();
    edit(image('app:2'));
    await settle();
    assert.deepEqual(sizes(), [2]);
    assert.equal(stored().metadata.annotations?.[revision], '2');
    assert.equal(
      stored().status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable'),
      true,
    );
    assert.equal(
      world.told.filter((line) => /^Normal ScalingReplicaSet web: Scaled /.test(line)).length,
      world.told.length,
    );
    assert.ok(world.told.some((line) => / to 0$/.test(line)));
  });

  it('stops if a ReplicaSet that it would change is deleted', async () => {
    world.put(deploymentResource, deployment(2));
    await settle();
    const [set] = sets();
    assert.ok(set);
    edit(({ spec }) => {
      spec.replicas = 5;
    });
    sync();
    world.take(replicaSetResource, `default/${set.metadata.name}`);
    const before = stored();
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(stored(), before);
    assert.equal(world.told.length, 1);
  });

  it('does nothing when it is deleted, in the cache or on the server', async () => {
    assert.equal(await world.reconcile(key), undefined);
    world.seen.put(deploymentResource, deployment(0));
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(world.stored(deploymentResource, key), undefined);
  });

  it('adopts a ReplicaSet without an owner', async () => {
    world.put(deploymentResource, deployment(2));
    const orphan = replicaSet('web-old', 2);
    world.put(replicaSetResource, orphan);
    await world.reconcile(key);
    assert.deepEqual(
      sets().map(({ metadata }) => metadata.ownerReferences),
      [mine.ownerReferences],
    );
  });

  it('with Recreate waits for the pods of the old ReplicaSet', async () => {
    world.put(deploymentResource, deployment(1, { strategy: { type: 'Recreate' } }));
    await settle();
    const [old] = sets();
    assert.ok(old);
    const owner = { ...ownedBy('ReplicaSet', old.metadata.name), uid: old.metadata.uid };
    world.put(podResource, pod('p', { metadata: { ownerReferences: [owner] } }));
    edit(image('app:2'));
    await settle();
    assert.deepEqual(sizes(), [0]);
    world.seen.remove(podResource, 'default/p');
    await settle();
    assert.deepEqual(sizes().sort(), [0, 1]);
  });
});

describe('a ReplicaSet that cannot be created', () => {
  it('has an event, and is retried', async () => {
    world.put(deploymentResource, deployment(2));
    world.refuse = (verb, name) =>
      verb === 'create' ? newForbidden(replicaSetResource, name, 'quota') : undefined;
    await assert.rejects(world.reconcile(key), /quota/);
    assert.match(
      world.told.join(),
      /^Warning ReplicaSetCreateError web: Failed to create new replica set "web-\w+": .*quota/,
    );
  });

  /** Returns the name that the Deployment's next ReplicaSet will have. */
  async function nameOfNext(): Promise<string> {
    const other = new ScriptedWorld(deploymentController);
    other.put(deploymentResource, deployment(2));
    await other.reconcile(key);
    return other.all(replicaSetResource)[0]?.metadata.name ?? assert.fail('none');
  }

  it('is awaited if it exists already', async () => {
    const name = await nameOfNext();
    world.put(deploymentResource, deployment(2));
    world.store(replicaSetResource, withMeta(replicaSet(name, 2), mine));
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(stored().status?.collisionCount, undefined);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    assert.deepEqual(world.told, []);
  });

  const others: [string, (name: string) => ReplicaSet][] = [
    [
      'another owner has a ReplicaSet of its name',
      (name) => withMeta(replicaSet(name, 2), { ownerReferences: [ownedBy('Deployment', 'other')] }),
    ],
    [
      'its own ReplicaSet of that name has another template',
      (name) => {
        const set = withMeta(replicaSet(name, 2), mine);
        return { ...set, spec: { ...set.spec, template: deployment(1, {}, 'app:9').spec.template } };
      },
    ],
  ];
  for (const [title, make] of others)
    it(`gets another name because ${title}`, async () => {
      const name = await nameOfNext();
      world.put(deploymentResource, { ...deployment(2), status: { observedGeneration: 7 } });
      world.store(replicaSetResource, make(name));
      assert.equal(await world.reconcile(key), undefined);
      assert.deepEqual(stored().status, { observedGeneration: 7, collisionCount: 1 });
      world.sync(deploymentResource);
      await world.reconcile(key);
      assert.equal(sets().length, 2);
      assert.deepEqual(sets().filter((set) => set.metadata.name === name).length, 1);
    });

  it('is retried after any other failure', async () => {
    world.put(deploymentResource, deployment(2));
    await settle();
    edit(({ spec }) => {
      spec.replicas = 5;
    });
    sync();
    world.refuse = (verb) => (verb === 'update' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
  });
});

describe('reconciled again', () => {
  it('is a Deployment when it or a ReplicaSet that it owns or could adopt changes', () => {
    world.seen.put(deploymentResource, deployment(1));
    const keys = (set: ReplicaSet) => world.keysOf(replicaSetResource, set);
    assert.deepEqual(world.keysOf(deploymentResource, deployment(1)), [key]);
    assert.deepEqual(keys(withMeta(replicaSet('a', 1), mine)), [key]);
    assert.deepEqual(keys(withMeta(replicaSet('a', 1), { ownerReferences: [ownedBy('Other', 'web')] })), []);
    assert.deepEqual(keys(replicaSet('a', 1)), [key]);
    assert.deepEqual(keys(withMeta(replicaSet('a', 1), { labels: { app: 'x' } })), []);
  });

  it('is a Deployment with Recreate when a pod of its ReplicaSets changes', () => {
    const of = (name: string, kind = 'ReplicaSet') =>
      pod('p', { metadata: { ownerReferences: [ownedBy(kind, name)] } });
    const keys = (one: Pod) => world.keysOf(podResource, one);
    world.seen.put(replicaSetResource, withMeta(replicaSet('set', 1), mine));
    world.seen.put(deploymentResource, deployment(1));
    assert.deepEqual(keys(of('set')), []);
    world.seen.put(deploymentResource, deployment(1, { strategy: { type: 'Recreate' } }));
    assert.deepEqual(keys(of('set')), [key]);
    assert.deepEqual([keys(of('none')), keys(of('set', 'Job')), keys(pod('p'))], [[], [], []]);
  });
});
