/** Next size of each ReplicaSet of a Deployment. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import { resolveCount } from '../../../../../src/api/int-or-percent.ts';
import {
  desiredReplicasAnnotation,
  isScalingEvent,
  maxReplicasAnnotation,
  newSetReplicas,
  proportionalScale,
  rolloutLimits,
  type Scale,
  shrinkOldSets,
} from '../../../../../src/controllers/workloads/deployments/deployment-rollout.ts';
import { at, deployment, replicaSet } from '../../objects.ts';

const rolling = (replicas: number, maxSurge: number, maxUnavailable: number) =>
  deployment(replicas, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } });
const recreating = (replicas: number) => deployment(replicas, { strategy: { type: 'Recreate' } });

/** ReplicaSet with `available` pods, last sized for a Deployment of this many replicas. */
function sized(
  name: string,
  replicas: number,
  available = replicas,
  desired?: number,
  created = 0,
): ReplicaSet {
  const set = replicaSet(name, replicas, { status: { replicas, availableReplicas: available } });
  const annotations = desired !== undefined && {
    annotations: { [desiredReplicasAnnotation]: String(desired), [maxReplicasAnnotation]: String(desired) },
  };
  return { ...set, metadata: { ...set.metadata, creationTimestamp: at(created), ...annotations } };
}
const brief = (scales: readonly Scale[]) =>
  Object.fromEntries(scales.map(({ set, replicas }) => [set.metadata.name, replicas]));

describe('old ReplicaSets shrink', () => {
  const table: [string, ReturnType<typeof deployment>, ReplicaSet, ReplicaSet[], Record<string, number>][] = [
    ['not while all pods are needed', rolling(10, 3, 2), sized('new', 5, 0), [sized('a', 8)], {}],
    [
      'by the number of available pods of the new ReplicaSet',
      rolling(10, 3, 2),
      sized('new', 5, 2),
      [sized('a', 8)],
      { a: 6 },
    ],
    [
      'by the number of pods that may be unavailable',
      rolling(10, 0, 2),
      sized('new', 0),
      [sized('a', 10)],
      { a: 8 },
    ],
    ['not below 0', rolling(2, 0, 2), sized('new', 2, 2), [sized('a', 1)], { a: 0 }],
    [
      'by unavailable pods first',
      rolling(6, 0, 2),
      sized('new', 0),
      [sized('a', 3), sized('b', 3, 1)],
      { b: 1 },
    ],
    [
      'by no more unavailable pods than allowed',
      rolling(6, 0, 1),
      sized('new', 0),
      [sized('a', 3), sized('b', 3, 1)],
      { b: 2 },
    ],
    [
      'by unavailable pods, then by available ones of the oldest',
      rolling(6, 0, 3),
      sized('new', 0),
      [sized('b', 3, 1), sized('a', 3)],
      { a: 2, b: 1 },
    ],
    [
      'by unavailable pods of all ReplicaSets, the oldest ReplicaSet first',
      rolling(6, 0, 2),
      sized('new', 0),
      [sized('b', 3, 2), sized('a', 3, 1, undefined, 9)],
      { a: 2, b: 2 },
    ],
    [
      'by available pods of the next ReplicaSet when the oldest has none left',
      rolling(4, 0, 3),
      sized('new', 0),
      [sized('a', 2), sized('b', 2)],
      { a: 0, b: 1 },
    ],
    [
      'without counting pods that a ReplicaSet is about to remove',
      rolling(4, 2, 0),
      sized('new', 2, 9),
      [sized('a', 4, 9)],
      { a: 2 },
    ],
    [
      'without counting a ReplicaSet that has no status',
      rolling(4, 2, 0),
      { ...sized('new', 2), status: undefined },
      [sized('a', 4)],
      {},
    ],
    [
      'not while there are fewer pods than needed',
      rolling(10, 0, 1),
      sized('new', 0),
      [sized('a', 5, 3)],
      {},
    ],
  ];
  for (const [title, target, newSet, old, expected] of table)
    it(title, () => assert.deepEqual(brief(shrinkOldSets(target, newSet, old)), expected));
});

describe('the new ReplicaSet grows', () => {
  const table: [string, ReturnType<typeof deployment>, ReplicaSet | undefined, ReplicaSet[], number][] = [
    ['to all replicas if there is no other ReplicaSet', rolling(4, 1, 0), undefined, [], 4],
    ['by the surge', rolling(4, 1, 0), undefined, [sized('a', 4)], 1],
    ['to no more than spec.replicas', rolling(4, 9, 0), sized('new', 1), [sized('a', 4)], 4],
    ['not without room within the surge', rolling(4, 1, 0), sized('new', 1), [sized('a', 4)], 1],
    [
      'not, and keeps its size, if there are too many pods',
      rolling(4, 0, 1),
      sized('new', 2),
      [sized('a', 4)],
      2,
    ],
    ['down to spec.replicas', rolling(4, 1, 0), sized('new', 6), [], 4],
    ['to all replicas at once with Recreate', recreating(4), undefined, [sized('a', 0)], 4],
    ['down with Recreate', recreating(4), sized('new', 6), [], 4],
  ];
  for (const [title, target, newSet, others, expected] of table)
    it(title, () => assert.equal(newSetReplicas(target, newSet, others), expected));
});

describe('a change of spec.replicas', () => {
  it('is detected by the desired replicas in the annotation of a ReplicaSet with pods', () => {
    const seen = (...sets: ReplicaSet[]) => isScalingEvent(rolling(4, 1, 0), sets);
    assert.equal(seen(sized('a', 3, 3, 4), sized('b', 1, 1, 4)), false);
    assert.equal(seen(sized('a', 3, 3, 4), sized('b', 1, 1, 5)), true);
    assert.equal(seen(sized('a', 0, 0, 5)), false, 'one without pods is not sized again');
    assert.equal(seen(sized('a', 3)), false, 'one that nobody has sized');
    const strange = sized('a', 3);
    strange.metadata.annotations = { [desiredReplicasAnnotation]: 'x4' };
    assert.equal(seen(strange), false, 'one sized for what is no number');
    assert.equal(seen(), false);
  });

  const table: [
    string,
    ReturnType<typeof deployment>,
    ReplicaSet | undefined,
    ReplicaSet[],
    Record<string, number>,
  ][] = [
    [
      'goes to an old ReplicaSet that alone has pods',
      rolling(6, 1, 0),
      sized('new', 0),
      [sized('a', 4), sized('b', 0)],
      { a: 6 },
    ],
    [
      'goes to the only ReplicaSet with pods, even if it has one pod',
      rolling(6, 1, 0),
      sized('new', 1),
      [sized('a', 0)],
      { new: 6 },
    ],
    [
      'goes to the new ReplicaSet if none has pods',
      rolling(6, 1, 0),
      sized('new', 0),
      [sized('a', 0)],
      { new: 6 },
    ],
    [
      'goes to the youngest ReplicaSet if none has pods and none is new',
      rolling(6, 1, 0),
      undefined,
      [sized('b', 0, 0, 3, 5), sized('a', 0, 0, 3, 9), sized('c', 0, 0, 3, 7)],
      { a: 6 },
    ],
    ['has no effect without ReplicaSets', rolling(6, 1, 0), undefined, [], {}],
    [
      'is shared by ReplicaSets with pods alone',
      rolling(8, 0, 1),
      sized('new', 1, 1, 4),
      [sized('a', 3, 3, 4), sized('b', 0, 0, 4)],
      { a: 6, new: 2 },
    ],
    [
      'is shared by old ReplicaSets if none is new',
      rolling(8, 0, 1),
      undefined,
      [sized('a', 1, 1, 4), sized('b', 3, 3, 4)],
      { a: 2, b: 6 },
    ],
    ['is shared downwards', rolling(4, 0, 1), sized('new', 2, 2, 8), [sized('a', 6, 6, 8)], { a: 3, new: 1 }],
    [
      'to 0 removes all pods',
      rolling(0, 3, 0),
      sized('new', 2, 2, 8),
      [sized('a', 6, 6, 8)],
      { a: 0, new: 0 },
    ],
    [
      'leaves nothing to share with Recreate',
      recreating(8),
      sized('new', 1, 1, 4),
      [sized('a', 3, 3, 4)],
      {},
    ],
    [
      'removes old ReplicaSets with pods once the new one has all replicas',
      rolling(4, 1, 0),
      sized('new', 4, 4, 4),
      [sized('a', 1, 1, 4), sized('b', 0, 0, 4)],
      { a: 0 },
    ],
    [
      'continues while the new ReplicaSet was sized for another number',
      rolling(4, 1, 0),
      sized('new', 4, 4, 3),
      [sized('a', 1, 1, 4)],
      { new: 4, a: 1 },
    ],
    [
      'continues while the new ReplicaSet has another size',
      rolling(4, 1, 0),
      sized('new', 3, 4, 4),
      [sized('a', 1, 1, 4)],
      { new: 4, a: 1 },
    ],
  ];
  for (const [title, target, newSet, old, expected] of table)
    it(title, () => assert.deepEqual(brief(proportionalScale(target, newSet, old)), expected));

  it("is in proportion to the Deployment's size if no ReplicaSet has the annotation", () => {
    const target = { ...rolling(8, 0, 1), status: { replicas: 4 } };
    assert.deepEqual(brief(proportionalScale(target, sized('new', 1), [sized('a', 3)])), { a: 6, new: 2 });
    const silent = rolling(4, 0, 1);
    assert.deepEqual(brief(proportionalScale(silent, sized('new', 2), [sized('a', 2)])), { a: 2, new: 2 });
    const strange = sized('a', 3);
    strange.metadata.annotations = { [maxReplicasAnnotation]: 'x4' };
    assert.deepEqual(brief(proportionalScale(target, sized('new', 1), [strange])), { a: 6, new: 2 });
  });

  it('assigns the rounding remainder to the largest set, or subtracts it there', () => {
    // Sizes of a, b and c from the oldest to the youngest, the replica count that they were sized for, the
    // wanted replica count, and the new sizes.
    const cases: [number[], number, number, Record<string, number>][] = [
      [[1, 1, 1], 3, 4, { a: 1, b: 1, c: 2 }],
      [[1, 1, 1], 3, 2, { a: 0, b: 1, c: 1 }],
      [[1, 1, 2], 4, 3, { a: 1, b: 1, c: 1 }],
      [[1, 1, 2], 4, 2, { a: 1, b: 1, c: 0 }],
      [[1, 1], 2, 3, { a: 1, b: 2 }],
      [[1, 1], 2, 4, { a: 2, b: 2 }],
      [[1, 1], 2, 5, { a: 2, b: 3 }],
      // ReplicaSets that were sized for fewer pods than they have by now; one step cannot correct this.
      [[1, 1], 1, 2, { a: 1, b: 1 }],
      [[1, 2], 1, 3, { a: 1, b: 2 }],
      [[1, 1], 1, 3, { a: 1, b: 2 }],
    ];
    for (const [sizes, before, wanted, expected] of cases) {
      const sets = sizes.map((size, age) => sized('abc'.charAt(age), size, size, before, age));
      const scales = proportionalScale(rolling(wanted, 0, 1), undefined, sets);
      assert.deepEqual(brief(scales), expected, `${sizes} to ${wanted}`);
    }
  });

  it('to one leaves room for the surge', () => {
    const sets = [sized('a', 6, 6, 8), sized('new', 2, 2, 8)];
    assert.deepEqual(brief(proportionalScale(rolling(1, 3, 0), undefined, sets)), { a: 3, new: 1 });
  });

  it('is given to the newest if the proportion is unknown', () => {
    const sets = [sized('a', 2, 2, undefined, 1), sized('b', 2, 2, undefined, 2)];
    assert.deepEqual(brief(proportionalScale(rolling(8, 0, 1), undefined, sets)), { a: 2, b: 6 });
  });
});

describe('the limits of a rollout', () => {
  it('do not exist for Recreate', () => {
    assert.deepEqual(rolloutLimits(recreating(8)), { maxSurge: 0, maxUnavailable: 0 });
  });
  it('default to a quarter', () => {
    const strategy = { type: 'RollingUpdate' as const };
    assert.deepEqual(rolloutLimits(deployment(8, { strategy })), { maxSurge: 2, maxUnavailable: 2 });
  });
  it('have at most the existing pods as unavailable, and never both limits at zero if there are pods', () => {
    assert.deepEqual(rolloutLimits(rolling(3, 0, 9)), { maxSurge: 0, maxUnavailable: 3 });
    assert.deepEqual(rolloutLimits(rolling(0, 0, 0)), { maxSurge: 0, maxUnavailable: 0 });
    assert.deepEqual(rolloutLimits(rolling(3, 0, 0)), { maxSurge: 0, maxUnavailable: 1 });
    assert.deepEqual(rolloutLimits(rolling(3, 1, 0)), { maxSurge: 1, maxUnavailable: 0 });
  });
  it('are numbers, or shares of all', () => {
    const table: [number | string, number, number][] = [
      ['100%', 10, 10],
      ['200%', 10, 20],
      ['0%', 10, 0],
      ['x%', 10, 0],
      ['5', 10, 0],
      [5, 10, 5],
      [-5, 10, 0],
    ];
    for (const [value, total, expected] of table)
      assert.equal(resolveCount(value, total, Math.floor), expected, String(value));
  });
});
