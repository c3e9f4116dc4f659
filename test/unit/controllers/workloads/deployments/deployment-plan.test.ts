/** Stages of a Deployment until it comes to rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import {
  revisionAnnotation,
  revisionHistoryAnnotation,
} from '../../../../../src/controllers/workloads/deployments/deployment-plan.ts';
import { deployment, meta, ownedBy, pod } from '../../objects.ts';
import { image, World, withPods } from './deployment-world.ts';

const progressing = (world: World) =>
  world.deployment.status?.conditions?.find(({ type }) => type === 'Progressing');

describe('planDeployment', () => {
  it('creates a ReplicaSet, reports completion and then needs no further actions', () => {
    const world = new World(deployment(3));
    world.settle();
    assert.deepEqual(world.sizes(), [3]);
    assert.equal(world.deployment.metadata.annotations?.[revisionAnnotation], '1');
    assert.equal(progressing(world)?.reason, 'NewReplicaSetAvailable');
    const { conditions, ...numbers } = world.deployment.status ?? {};
    assert.deepEqual(numbers, {
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      unavailableReplicas: 0,
    });
    assert.equal(conditions?.find(({ type }) => type === 'Available')?.status, 'True');
    assert.deepEqual(world.plan().actions, []);
    assert.match(world.messages.join(), /^Scaled up replica set web-\w+ from 0 to 3$/);
  });

  it('reports a new set only when it has pods to create', () => {
    const world = new World(deployment(0));
    world.settle();
    assert.deepEqual(world.sizes(), [0]);
    assert.deepEqual(world.messages, []);
    world.edit(({ spec }) => {
      spec.replicas = 2;
    });
    world.settle();
    assert.match(world.messages.join(), /^Scaled up replica set web-\w+ from 0 to 2$/);
  });

  it('rolls to a new template and back, keeping the revisions that undo and history read', () => {
    const world = new World(deployment(4));
    world.settle();
    world.edit(image('app:2'));
    world.settle();
    assert.deepEqual(world.sizes(), [0, 4]);
    assert.equal(world.deployment.metadata.annotations?.[revisionAnnotation], '2');
    world.edit(image('app:1'));
    world.settle();
    assert.deepEqual(world.sizes(), [4, 0]);
    const annotations = world.sets[0]?.metadata.annotations;
    assert.equal(annotations?.[revisionAnnotation], '3');
    assert.equal(annotations?.[revisionHistoryAnnotation], '1');
    assert.equal(world.deployment.metadata.annotations?.[revisionAnnotation], '3');
    assert.equal(progressing(world)?.reason, 'NewReplicaSetAvailable');
  });

  it('continues exactly from a revision of 64 bits, and ignores revisions that are not numbers', () => {
    const world = new World(deployment(1));
    world.settle();
    const [first] = world.sets;
    assert.ok(first);
    const former = (name: string, revision: string): ReplicaSet => {
      const set = deepCopy(first);
      Object.assign(set.metadata, meta(name), { annotations: { [revisionAnnotation]: revision } });
      image(name)({ ...world.deployment, spec: set.spec as Deployment['spec'] });
      return set;
    };
    world.sets = [former('old', '3546343826724305832'), former('older', '9223372036854775808')];
    world.settle();
    assert.equal(world.newest?.metadata.annotations?.[revisionAnnotation], '3546343826724305833');
    assert.equal(world.deployment.metadata.annotations?.[revisionAnnotation], '3546343826724305833');
  });

  it('does not roll out while paused, but scales, and rolls out after the resume', () => {
    const world = new World(deployment(2));
    world.settle();
    world.edit((target) => {
      target.spec.paused = true;
      image('app:2')(target);
      target.spec.replicas = 5;
    });
    world.settle();
    assert.deepEqual(world.sizes(), [5]);
    assert.equal(progressing(world)?.reason, 'DeploymentPaused');
    world.edit((target) => {
      target.spec.paused = false;
    });
    world.settle();
    assert.deepEqual(world.sizes(), [0, 5]);
  });

  it('scales proportionally in the middle of a rollout', () => {
    const world = new World(
      deployment(10, {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      }),
    );
    world.settle();
    world.edit(image('app:2'));
    for (let round = 0; round < 4; round++) world.step();
    assert.deepEqual(world.sizes(), [8, 5]);
    world.edit((target) => {
      target.spec.replicas = 15;
    });
    world.step();
    assert.deepEqual(world.sizes(), [11, 7]);
  });

  it('assigns the rounding remainder to the largest set, and among equal ones to the oldest', () => {
    const world = new World(
      deployment(10, {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 5 } },
      }),
    );
    world.settle();
    world.edit(image('app:2'));
    for (let round = 0; round < 3; round++) world.step();
    assert.deepEqual(world.sizes(), [5, 5]);
    world.edit((target) => {
      target.spec.replicas = 9;
    });
    world.step();
    assert.deepEqual(world.sizes(), [4, 5]);
  });

  it('starts the new pods with Recreate only when the old ones are deleted', () => {
    const world = new World(deployment(2, { strategy: { type: 'Recreate' } }));
    world.settle();
    world.edit(image('app:2'));
    world.step();
    assert.deepEqual(world.sizes(), [0]);
    const old = world.sets[0]?.metadata.name ?? '';
    const lingering = pod('a', { metadata: { ownerReferences: [ownedBy('ReplicaSet', old)] } });
    assert.deepEqual(world.plan([lingering]).actions, []);
    world.settle();
    assert.deepEqual(world.sizes(), [0, 2]);
  });

  it('deletes revisions beyond the limit, the oldest first', () => {
    const world = new World(deployment(1, { revisionHistoryLimit: 2 }));
    for (let version = 1; version <= 5; version++) {
      world.edit(image(`app:${version}`));
      world.settle();
    }
    assert.deepEqual(
      world.sets.map((set) => set.metadata.annotations?.[revisionAnnotation]),
      ['3', '4', '5'],
    );
  });

  it('deletes no revision with remaining pods, or before that has its final size', () => {
    const world = new World(deployment(1));
    world.settle();
    world.edit(image('app:2'));
    world.settle();
    // A paused Deployment has no other sign that its rollout is over.
    world.edit(({ spec }) => {
      spec.revisionHistoryLimit = 0;
      spec.paused = true;
    });
    const [first] = world.sets;
    assert.ok(first && first.spec.replicas === 0 && world.sets.length === 2);
    const deletedWith = (status: Partial<NonNullable<ReplicaSet['status']>>) => {
      world.sets[0] = { ...first, status: { ...withPods(first, 0, 0).status, replicas: 0, ...status } };
      return world.plan().actions.map(({ type }) => type);
    };
    assert.deepEqual(deletedWith({ replicas: 1 }), []);
    assert.deepEqual(deletedWith({ observedGeneration: (first.metadata.generation ?? 0) - 1 }), []);
    assert.deepEqual(deletedWith({}), ['deleteReplicaSet']);
  });

  it('sets Available while at most the permitted number of pods is missing', () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    const world = new World(deployment(4, { strategy: { type: 'RollingUpdate', rollingUpdate } }));
    world.settle();
    const available = (count: number) => {
      world.sets = world.sets.map((set) => withPods(set, 4, count));
      world.step();
      const found = world.deployment.status?.conditions?.find(({ type }) => type === 'Available');
      return [found?.status, found?.reason];
    };
    assert.deepEqual(available(3), ['True', 'MinimumReplicasAvailable']);
    assert.deepEqual(available(2), ['False', 'MinimumReplicasUnavailable']);
    assert.deepEqual(available(3), ['True', 'MinimumReplicasAvailable']);
  });

  it('reports a passed deadline, and progress when the rollout moves on', () => {
    const world = new World(deployment(2, { progressDeadlineSeconds: 60 }));
    world.step();
    assert.equal(world.plan().requeueAfter, 61_000);
    world.step();
    world.now += 61_000;
    world.step();
    assert.deepEqual(
      [progressing(world)?.status, progressing(world)?.reason],
      ['False', 'ProgressDeadlineExceeded'],
    );
    assert.equal(world.plan().requeueAfter, undefined);
    world.settle();
    assert.equal(progressing(world)?.reason, 'NewReplicaSetAvailable');
  });

  it('keeps the failed state while it is paused, so that the reason is not lost', () => {
    const world = new World(deployment(2, { progressDeadlineSeconds: 60 }));
    world.step();
    world.step();
    world.now += 61_000;
    world.step();
    assert.equal(progressing(world)?.reason, 'ProgressDeadlineExceeded');
    world.edit((target) => {
      target.spec.paused = true;
    });
    world.step();
    assert.equal(progressing(world)?.reason, 'ProgressDeadlineExceeded');
  });

  it('keeps the complete state when pods are deleted and created after the rollout', () => {
    const world = new World(deployment(4));
    world.settle();
    for (const available of [2, 3, 4]) {
      world.sets = world.sets.map((set) => withPods(set, 4, available));
      world.step();
      assert.equal(progressing(world)?.reason, 'NewReplicaSetAvailable', `${available} of 4`);
    }
  });

  it('only updates the status while the Deployment is being deleted', () => {
    const world = new World(deployment(2));
    world.deployment.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    assert.deepEqual(world.plan().actions, []);
  });
});
