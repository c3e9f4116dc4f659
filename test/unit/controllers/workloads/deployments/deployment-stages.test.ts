/** Single stages of a Deployment: unfinished changes, pauses, and changes that must wait. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import {
  type DeploymentAction,
  planDeployment,
} from '../../../../../src/controllers/workloads/deployments/deployment-plan.ts';
import { at, deployment, ownedBy, pod, start } from '../../objects.ts';
import { image, World, withPods } from './deployment-world.ts';

const desired = 'deployment.kubernetes.io/desired-replicas';
const most = 'deployment.kubernetes.io/max-replicas';
const revision = 'deployment.kubernetes.io/revision';

const brief = (actions: readonly DeploymentAction[]) =>
  actions.map((action) =>
    action.type === 'updateReplicaSet'
      ? `${action.set.metadata.name} ${action.set.spec.replicas}`
      : action.type === 'deleteReplicaSet'
        ? `without ${action.set.metadata.name}`
        : action.type,
  );
const nameOf = (set: ReplicaSet | undefined) => set?.metadata.name ?? assert.fail('no ReplicaSet');
const reasonOf = (world: World) => {
  const found = world.plan().status.conditions?.find(({ type }) => type === 'Progressing');
  return found && `${found.reason}: ${found.message}`;
};

/** World after two templates, each of which came to rest; `spec` holds from then on. */
function rolledOnce(replicas: number, spec: Partial<Deployment['spec']> = {}): World {
  const world = new World(deployment(replicas));
  world.settle();
  world.edit(image('app:2'));
  world.settle();
  world.edit((target) => {
    Object.assign(target.spec, spec);
  });
  return world;
}

describe('old revisions', () => {
  it('beyond the limit stay until the rollout is over', () => {
    const world = rolledOnce(2);
    world.edit((target) => {
      image('app:3')(target);
      target.spec.revisionHistoryLimit = 0;
    });
    for (let round = 0; round < 9; round++) {
      assert.ok(world.plan().actions.every(({ type }) => type !== 'deleteReplicaSet'));
      world.step();
    }
    assert.deepEqual(world.plan().actions, [], 'it waits for its pods');
    world.settle();
    assert.equal(world.sets.length, 1);
  });

  it('stay when the Deployment itself is being deleted', () => {
    const world = rolledOnce(2, { revisionHistoryLimit: 0 });
    world.deployment.metadata.deletionTimestamp = at(1);
    assert.deepEqual(world.plan().actions, []);
  });

  it('with the same number are deleted oldest first', () => {
    const world = rolledOnce(2, { revisionHistoryLimit: 1 });
    const [old, newest] = world.sets;
    assert.ok(old && newest);
    const aged = (name: string, created: number) => {
      const set = deepCopy(old);
      Object.assign(set.metadata, { name, uid: name, creationTimestamp: at(created) });
      return set;
    };
    world.sets = [aged('young', 30), aged('old', 10), newest, aged('middle', 20)];
    assert.deepEqual(brief(world.plan().actions), ['without old', 'without middle']);
  });

  it('are kept if they should have pods, even if none exists yet', () => {
    const world = rolledOnce(2, { revisionHistoryLimit: 0, paused: true, strategy: { type: 'Recreate' } });
    const [old, newest] = world.sets;
    assert.ok(old && newest);
    world.sets = [{ ...withPods(old, 0, 0), spec: { ...old.spec, replicas: 1 } }, withPods(newest, 2, 1)];
    world.step();
    assert.deepEqual(world.sizes(), [1, 2]);
    assert.deepEqual(world.plan().actions, []);
  });
});

describe('the message about progress', () => {
  it('names the ReplicaSet that was created or found', () => {
    const world = new World(deployment(1));
    const { actions, status } = world.plan();
    const [made] = actions;
    assert.ok(made?.type === 'createReplicaSet');
    const name = made.draft.metadata.name ?? '';
    assert.equal(made.message, `Scaled up replica set ${name} from 0 to 1`);
    const said = status.conditions?.find(({ type }) => type === 'Progressing');
    assert.deepEqual(
      [said?.reason, said?.message],
      ['NewReplicaSetCreated', `Created new replica set "${name}"`],
    );
    world.step();
    world.deployment = { ...world.deployment, status: undefined };
    assert.equal(reasonOf(world), `FoundNewReplicaSet: Found new replica set "${name}"`);
  });

  it('is absent if there is no progress', () => {
    const world = new World(deployment(1));
    world.deployment.metadata.deletionTimestamp = at(1);
    assert.equal(reasonOf(world), undefined);
  });
});

describe('a change of spec.replicas', () => {
  /** World in the middle of a rollout, where both ReplicaSets have pods. */
  function midway(replicas: number): World {
    const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } };
    const world = new World(deployment(10, { strategy }));
    world.settle();
    world.edit(image('app:2'));
    for (let round = 0; round < 4; round++) world.step();
    assert.deepEqual(world.sizes(), [8, 5]);
    world.edit(({ spec }) => {
      spec.replicas = replicas;
    });
    return world;
  }

  it('that was applied to one of two ReplicaSets is applied to the other', () => {
    for (const [replicas, done, expected] of [
      [15, 0, [11, 7]],
      [15, 1, [11, 7]],
      [5, 0, [5, 3]],
      [5, 1, [5, 3]],
    ] as const) {
      const world = midway(replicas);
      const update = world
        .plan()
        .actions.find(
          (action) =>
            action.type === 'updateReplicaSet' && action.set.metadata.uid === world.sets[done]?.metadata.uid,
        );
      assert.ok(update?.type === 'updateReplicaSet');
      world.sets = world.sets.map((set, index) => (index === done ? update.set : set));
      world.step();
      assert.deepEqual(world.sizes(), expected, `${replicas}, ${done}`);
    }
  });

  it('together with a new template ends all old pods with Recreate', () => {
    const world = rolledOnce(1, { strategy: { type: 'Recreate' } });
    world.edit((target) => {
      image('app:3')(target);
      target.spec.replicas = 5;
    });
    assert.deepEqual(brief(world.plan().actions), [`${nameOf(world.sets[1])} 0`]);
  });
});

describe('while a Deployment is paused', () => {
  it('its newest ReplicaSet still gets annotations and minReadySeconds', () => {
    const world = rolledOnce(2, { paused: true });
    world.edit(({ metadata, spec }) => {
      metadata.annotations = { ...metadata.annotations, 'kubernetes.io/change-cause': 'the second' };
      spec.minReadySeconds = 7;
    });
    world.settle();
    const set = world.newest;
    assert.equal(set?.metadata.annotations?.['kubernetes.io/change-cause'], 'the second');
    assert.equal(set.spec.minReadySeconds, 7);
    assert.equal(world.sets[0]?.metadata.annotations?.['kubernetes.io/change-cause'], undefined);
  });

  it('no ReplicaSet is created for a new template', () => {
    const world = new World(deployment(2, { paused: true }));
    assert.deepEqual(world.plan().actions, []);
  });
});

describe('a stage of a rollout', () => {
  it('scales the new ReplicaSet up or the old ones down, not both', () => {
    const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: 1, maxUnavailable: 2 } };
    const world = new World(deployment(4, { strategy }));
    world.settle();
    world.edit(image('app:2'));
    world.step();
    const [old, fresh] = world.sets.map(nameOf);
    assert.deepEqual(world.sizes(), [4, 1]);
    assert.deepEqual(brief(world.plan().actions), [`${old} 2`]);
    world.step();
    world.sets = world.sets.map((set) => withPods(set, set.spec.replicas, set.spec.replicas));
    assert.deepEqual(brief(world.plan().actions), [`${fresh} 3`], 'though one of the old could go as well');
  });

  it('does not depend on annotations that users gave the Deployment', () => {
    const world = new World(deployment(2));
    world.settle();
    world.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [desired]: '77', [most]: '78' };
    });
    world.settle();
    const { annotations } = world.newest?.metadata ?? {};
    assert.deepEqual([annotations?.[desired], annotations?.[most], annotations?.[revision]], ['2', '3', '1']);
    assert.deepEqual(world.sizes(), [2]);
  });

  it('with Recreate waits only for pods that an old ReplicaSet owns', () => {
    const world = rolledOnce(2, { strategy: { type: 'Recreate' } });
    world.edit(image('app:3'));
    world.step();
    const owners = [ownedBy('Other', 'x'), ownedBy('ReplicaSet', nameOf(world.sets[1]))];
    const held = pod('p', { metadata: { ownerReferences: owners } });
    assert.deepEqual(planDeployment(world.deployment, world.sets, [held], start).actions, []);
    assert.deepEqual(brief(world.plan().actions), ['createReplicaSet', 'setRevision']);
  });
});
