/** Arithmetic of rollouts: limits, sizes and names, and invariants for any behavior of pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveCount } from '../../../../../src/api/int-or-percent.ts';
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  newSetReplicas,
  proportionalScale,
  rolloutLimits,
  sumReplicas,
} from '../../../../../src/controllers/workloads/deployments/deployment-rollout.ts';
import { templateHash } from '../../../../../src/controllers/workloads/deployments/deployment-template.ts';
import { fnv32a } from '../../../../../src/controllers/workloads/safe-hash.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { deployment, replicaSet } from '../../objects.ts';
import { image, World, withPods } from './deployment-world.ts';

describe('rolling updates with pods that become ready and break at random', () => {
  for (let seed = 1; seed <= 60; seed++)
    it(`never exceed the surge, never fall below the minimum, and end (seed ${seed})`, () => {
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
        // Unavailable pods are removed first, so that the sizes bound the number of available pods that stay.
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

  /** Advances the sets at random: each may catch up; pods become ready; sometimes one breaks. */
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

  it('decrease for the new set at once with the Deployment, and increase up to the maximum surge', () => {
    assert.equal(newSetReplicas(of(3), sized('new', 5, 5), []), 3);
    assert.equal(newSetReplicas(of(3), sized('new', 1, 3), [sized('old', 2, 3)]), 2);
    assert.equal(newSetReplicas(of(3), sized('new', 1, 3), [sized('old', 3, 3)]), 1);
  });

  it('are 0 for old sets once the new set has all replicas', () => {
    const [old, taken] = [sized('old', 2, 3), sized('new', 4, 4)];
    assert.deepEqual(proportionalScale(of(4), taken, [old]), [{ set: old, replicas: 0 }]);
    const waiting = { ...taken, status: { ...taken.status, replicas: 4, availableReplicas: 3 } };
    assert.notDeepEqual(proportionalScale(of(4), waiting, [old]), [{ set: old, replicas: 0 }]);
  });
});

describe('limits and names', () => {
  it('round the surge up and the unavailable number down, and are never both zero', () => {
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
  it('use the hash FNV-1a', () => {
    assert.equal(fnv32a(''), 0x811c9dc5);
    assert.equal(fnv32a('a'), 0xe40c292c);
    assert.equal(fnv32a('foobar'), 0xbf9cf968);
  });
  it('name a template only by its content', () => {
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
