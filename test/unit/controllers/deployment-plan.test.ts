import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../src/api/apps/v1/replica-set.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import {
  type DeploymentPlan,
  planDeployment,
  revisionAnnotation,
  revisionHistoryAnnotation,
} from '../../../src/controllers/deployment-plan.ts';
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  newSetReplicas,
  proportionalScale,
  resolveCount,
  rolloutLimits,
  sumReplicas,
} from '../../../src/controllers/deployment-rollout.ts';
import { findNewReplicaSet, fnv32a, templateHash } from '../../../src/controllers/deployment-template.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { deployment, meta, ownedBy, pod, replicaSet, start } from './objects.ts';

/** A world in which plans are carried out: the ReplicaSets and the Deployment as the server would hold them. */
class World {
  sets: ReplicaSet[] = [];
  messages: string[] = [];
  deployment: Deployment;
  now = start;

  constructor(initial: Deployment) {
    this.deployment = initial;
  }

  plan(pods = [] as ReturnType<typeof pod>[]): DeploymentPlan {
    return planDeployment(this.deployment, this.sets, pods, this.now);
  }

  /** Carries out one plan; false when there was nothing to do. */
  step(): boolean {
    const { actions, status, statusChanged } = this.plan();
    for (const action of actions) {
      switch (action.type) {
        case 'createReplicaSet':
          if (action.message) this.messages.push(action.message);
          this.sets.push({
            ...(deepCopy(action.draft) as ReplicaSet),
            metadata: { ...meta(action.draft.metadata.name ?? ''), ...action.draft.metadata, generation: 1 },
            status: { replicas: 0 },
          });
          break;
        case 'updateReplicaSet':
          if (action.message) this.messages.push(action.message);
          this.sets = this.sets.map((set) =>
            set.metadata.uid === action.set.metadata.uid ? action.set : set,
          );
          break;
        case 'deleteReplicaSet':
          this.sets = this.sets.filter((set) => set.metadata.uid !== action.set.metadata.uid);
          break;
        case 'setRevision':
          this.deployment = deepCopy(this.deployment);
          this.deployment.metadata.annotations = {
            ...this.deployment.metadata.annotations,
            [revisionAnnotation]: action.revision,
          };
      }
    }
    if (statusChanged) this.deployment = { ...this.deployment, status };
    return actions.length > 0 || statusChanged;
  }

  /** Every pod that is asked for exists and is available. */
  ready(): void {
    this.sets = this.sets.map((set) => withPods(set, set.spec.replicas, set.spec.replicas));
  }

  settle(): void {
    for (let round = 0; round < 200; round++) {
      const moved = this.step();
      this.ready();
      if (!moved && !this.step()) return;
    }
    assert.fail('the deployment does not come to rest');
  }

  edit(change: (deployment: Deployment) => void): void {
    this.deployment = deepCopy(this.deployment);
    change(this.deployment);
    this.deployment.metadata.generation = (this.deployment.metadata.generation ?? 0) + 1;
  }

  get newest(): ReplicaSet | undefined {
    return findNewReplicaSet(this.deployment, this.sets);
  }

  sizes(): number[] {
    return this.sets.map((set) => set.spec.replicas);
  }
}

const withPods = (set: ReplicaSet, replicas: number, available: number): ReplicaSet => ({
  ...set,
  status: {
    ...set.status,
    replicas,
    readyReplicas: available,
    availableReplicas: available,
    observedGeneration: set.metadata.generation,
  },
});

const image = (name: string) => (target: Deployment) => {
  const first = target.spec.template.spec.containers[0];
  if (first) first.image = name;
};
const progressing = (world: World) =>
  world.deployment.status?.conditions?.find(({ type }) => type === 'Progressing');

describe('planDeployment', () => {
  it('makes a set, reports completion and comes to rest', () => {
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

  it('counts on from a revision of 64 bits, exactly, and from none that is no number', () => {
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

  it('does not roll while paused, but scales; rolls after resume', () => {
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

  it('gives what rounding left over to the largest set, the oldest of equals', () => {
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

  it('Recreate starts the new only when the pods of the old are gone', () => {
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

  it('forgets revisions beyond the limit, oldest first', () => {
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

  it('forgets no revision that has pods left, or has not heard yet that it shall have none', () => {
    const world = new World(deployment(1));
    world.settle();
    world.edit(image('app:2'));
    world.settle();
    // While one is paused nothing else says that a rollout is over.
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

  it('is Available while no more are missing than may be', () => {
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

  it('stays failed while it is paused, so that the reason is not lost', () => {
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

  it('stays complete when pods come and go after the rollout', () => {
    const world = new World(deployment(4));
    world.settle();
    for (const available of [2, 3, 4]) {
      world.sets = world.sets.map((set) => withPods(set, 4, available));
      world.step();
      assert.equal(progressing(world)?.reason, 'NewReplicaSetAvailable', `${available} of 4`);
    }
  });

  it('does nothing but report while it is being deleted', () => {
    const world = new World(deployment(2));
    world.deployment.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    assert.deepEqual(world.plan().actions, []);
  });
});

describe('rolling updates with pods that become ready and break at random', () => {
  for (let seed = 1; seed <= 60; seed++)
    it(`seed ${seed}: never above the surge, never removes below the minimum, and ends`, () => {
      const random = new SeededRandom(seed);
      const replicas = 1 + random.below(12);
      const rollingUpdate = {
        maxSurge: random.below(2) ? `${random.below(101)}%` : random.below(4),
        maxUnavailable: random.below(2) ? `${random.below(101)}%` : random.below(4),
      };
      const world = new World(deployment(replicas, { strategy: { type: 'RollingUpdate', rollingUpdate } }));
      world.settle();
      const { maxSurge, maxUnavailable } = rolloutLimits(world.deployment);
      world.edit(image('app:2'));
      for (let round = 0; round < 400; round++) {
        const before = available(world);
        world.step();
        assert.ok(sumReplicas(world.sets) <= replicas + maxSurge, 'more pods than the surge allows');
        // Removing prefers pods that are not available, so what stays available is bounded by the sizes.
        const kept = world.sets.reduce(
          (sum, set) => sum + Math.min(set.status?.availableReplicas ?? 0, set.spec.replicas),
          0,
        );
        assert.ok(
          kept >= Math.min(before, replicas - maxUnavailable),
          'removed an available pod that was needed',
        );
        wander(world, random);
        if (round === 200 && random.below(2)) world.edit(image('app:3'));
      }
      world.settle();
      assert.equal(world.newest?.spec.replicas, replicas);
      assert.equal(sumReplicas(world.sets), replicas);
      assert.deepEqual(world.plan().actions, []);
    });

  const available = (world: World) =>
    world.sets.reduce((sum, set) => sum + Math.min(set.status?.availableReplicas ?? 0, set.spec.replicas), 0);

  /** Each set catches up or not; pods become ready; now and then one breaks. */
  function wander(world: World, random: SeededRandom): void {
    world.sets = world.sets.map((set) => {
      if (random.below(3) === 0) return set;
      const had = Math.min(set.status?.availableReplicas ?? 0, set.spec.replicas);
      const broke = had > 0 && random.below(8) === 0 ? 1 : 0;
      const grew = random.below(set.spec.replicas - had + 1);
      return withPods(
        set,
        set.spec.replicas,
        Math.min(set.spec.replicas, had + grew - (grew > 0 ? 0 : broke)),
      );
    });
  }
});

describe('sizes', () => {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  const of = (replicas: number) =>
    deployment(replicas, { strategy: { type: 'RollingUpdate', rollingUpdate } });
  const sized = (name: string, replicas: number, desired: number) => {
    const annotations = {
      [desiredReplicasAnnotation]: String(desired),
      [maxReplicasAnnotation]: String(desired + 1),
    };
    const set = withPods(replicaSet(name, replicas), replicas, replicas);
    return { ...set, metadata: { ...set.metadata, annotations } };
  };

  it('of the new set follow the Deployment down at once, and up as far as the surge allows', () => {
    assert.equal(newSetReplicas(of(3), sized('new', 5, 5), []), 3);
    assert.equal(newSetReplicas(of(3), sized('new', 1, 3), [sized('old', 2, 3)]), 2);
    assert.equal(newSetReplicas(of(3), sized('new', 1, 3), [sized('old', 3, 3)]), 1);
  });

  it('of old sets are 0 once the new one has taken over, whatever share they had', () => {
    const [old, taken] = [sized('old', 2, 3), sized('new', 4, 4)];
    assert.deepEqual(proportionalScale(of(4), taken, [old]), [{ set: old, replicas: 0 }]);
    const waiting = { ...taken, status: { ...taken.status, replicas: 4, availableReplicas: 3 } };
    assert.notDeepEqual(proportionalScale(of(4), waiting, [old]), [{ set: old, replicas: 0 }]);
  });
});

describe('limits and names', () => {
  it('rounds surge up and unavailable down, and never lets both be zero', () => {
    assert.equal(resolveCount('25%', 10, Math.ceil), 3);
    assert.equal(resolveCount('25%', 10, Math.floor), 2);
    assert.equal(resolveCount(4, 10, Math.floor), 4);
    const none = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } as const;
    assert.deepEqual(rolloutLimits(deployment(3, { strategy: none })), { maxSurge: 0, maxUnavailable: 1 });
    assert.deepEqual(rolloutLimits(deployment(3, { strategy: { type: 'RollingUpdate' } })), {
      maxSurge: 1,
      maxUnavailable: 0,
    });
  });
  it('hashes as FNV-1a does', () => {
    assert.equal(fnv32a(''), 0x811c9dc5);
    assert.equal(fnv32a('a'), 0xe40c292c);
    assert.equal(fnv32a('foobar'), 0xbf9cf968);
  });
  it('names a template by its content alone', () => {
    const one = deployment(1).spec.template;
    const reordered = {
      spec: Object.fromEntries(Object.entries(one.spec).reverse()),
      metadata: one.metadata,
    };
    assert.equal(templateHash(reordered as typeof one, 0), templateHash(one, 0));
    assert.notEqual(templateHash(one, 1), templateHash(one, 0));
    assert.notEqual(templateHash(deployment(1, {}, 'app:2').spec.template, 0), templateHash(one, 0));
    assert.match(templateHash(one, 0), /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  });
});
