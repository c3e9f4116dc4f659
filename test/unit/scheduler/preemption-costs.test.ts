/** Node whose pods are preempted for another pod: decisions in tables, by cost and budgets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectorFromLabelSelector } from '../../../src/apimachinery/labels.ts';
import { decideWith, snapshotOf } from './pods.ts';
import { a, b, budget, type Given, on, remedyFor, sized, told, urgent } from './preempting.ts';

describe('the node that costs least is', () => {
  const table: [string, Omit<Given, 'nodes'>, string][] = [
    [
      'a node where no budget is violated',
      { bound: [on('a', 'x', '2', 1), on('b', 'y', '2', 50)], budgets: [budget('x', 0)] },
      'b',
    ],
    [
      'a node whose budget allows the disruption',
      { bound: [on('a', 'x', '2', 1), on('b', 'y', '2', 50)], budgets: [budget('x', 1)] },
      'a',
    ],
    [
      'a node whose pod is already counted as disrupted',
      { bound: [on('a', 'x', '2', 1), on('b', 'y', '2', 50)], budgets: [budget('x', 0, ['x'])] },
      'a',
    ],
    [
      'the node with the victim of the lowest priority',
      { bound: [on('a', 'x', '2', 9), on('b', 'y', '2', 8)] },
      'b',
    ],
    [
      'the node with the smaller sum of priorities',
      { bound: [on('a', 'x', '1', 9), on('a', 'z', '1', 9), on('b', 'y', '1', 9), on('b', 'w', '1', 1)] },
      'b',
    ],
    [
      'the node with fewer victims, although priorities are negative',
      { bound: [on('a', 'x', '1', -5), on('a', 'z', '1', -5), on('b', 'y', '2', -5)] },
      'b',
    ],
    [
      'the node whose victims started last',
      { bound: [on('a', 'x', '2', 9), on('b', 'y', '2', 9, { started: 5 })] },
      'b',
    ],
    [
      'the node with victims of lower priority, although they are more',
      { bound: [on('a', 'x', '2', 9), on('b', 'y', '1', 8), on('b', 'w', '1', 8, { started: 5 })] },
      'b',
    ],
    [
      'the node with fewer victims, however low their priorities',
      { bound: [on('a', 'x', '1', -1000), on('a', 'z', '1', -1000), on('b', 'y', '2', -1000)] },
      'b',
    ],
    [
      'the node with fewer victims, although another victim would not change the sum',
      { bound: [on('a', 'x', '1', 9), on('a', 'z', '1', -(2 ** 31)), on('b', 'y', '2', 9)] },
      'b',
    ],
    [
      'the node whose earliest victim started later',
      {
        bound: [
          on('a', 'x', '1', 9),
          on('a', 'z', '1', 9, { started: 100 }),
          on('b', 'y', '1', 9, { started: 50 }),
          on('b', 'w', '1', 9, { started: 60 }),
        ],
      },
      'b',
    ],
    [
      'the node whose victims of the highest priority started later, whenever the others started',
      {
        bound: [
          on('a', 'x', '1', 9, { started: 50 }),
          on('a', 'z', '1', 1),
          on('b', 'y', '1', 9, { started: 40 }),
          on('b', 'w', '1', 1, { started: 45 }),
        ],
      },
      'a',
    ],
    [
      'a node whose budget is of another namespace',
      {
        bound: [on('a', 'x', '2', 1), on('b', 'y', '2', 50)],
        budgets: [{ ...budget('x', 0), namespace: 'other' }],
      },
      'a',
    ],
    [
      'a node whose budget has an empty selector, which protects no pod, as upstream',
      {
        bound: [on('a', 'x', '1', 1), on('a', 'z', '1', 1, { started: 5 }), on('b', 'y', '2', 50)],
        budgets: [{ ...budget('x', 1), selector: selectorFromLabelSelector({}) }],
      },
      'a',
    ],
    [
      'a node where each of two budgets allows the disruption',
      {
        bound: [on('a', 'x', '1', 1), on('a', 'z', '1', 1, { started: 5 }), on('b', 'y', '2', 50)],
        budgets: [budget('x', 1), budget('z', 1)],
      },
      'a',
    ],
    [
      'a node where a budget allows one victim, but not two',
      {
        bound: [
          on('a', 'x', '1', 1, { labels: { app: 'x' } }),
          on('a', 'z', '1', 1, { labels: { app: 'x' } }),
          on('b', 'y', '2', 50),
        ],
        budgets: [budget('x', 1)],
      },
      'b',
    ],
  ];
  for (const [what, given, expected] of table)
    it(what, () => {
      const remedy = remedyFor(urgent('2'), { nodes: [a, b], ...given });
      assert.equal(remedy?.kind === 'preempt' && remedy.node, expected);
    });

  it('a node where a budget is violated, if there is no other', () => {
    const given = { nodes: [a], bound: [on('a', 'x', '2', 1)], budgets: [budget('x', 0)] };
    assert.deepEqual(told(remedyFor(urgent('2'), given)), ['a', ['x']]);
  });

  it('a node where pods of a higher priority are victims, if a budget protects the others', () => {
    const bound = [on('a', 'x', '1', 1), on('a', 'y', '1', 50)];
    assert.deepEqual(told(remedyFor(urgent('1'), { nodes: [a], bound, budgets: [budget('x', 0)] })), [
      'a',
      ['y'],
    ]);
  });
});

describe('many nodes', () => {
  const cost = (cheap: readonly number[], index: number) => (cheap.includes(index) ? 1 : 50);
  /**
   * Returns the node that is chosen of `count` nodes, each with one pod to be preempted; those in `cheap`
   * cost least.
   */
  function chosen(count: number, cheap: readonly number[], begin = 0, guarded: readonly number[] = []) {
    const nodes = Array.from({ length: count }, (_, index) => sized(`n${index}`, '2'));
    const bound = nodes.map(({ metadata: { name } }, index) =>
      on(name, `p${index}`, '2', cost(cheap, index), {
        labels: { app: guarded.includes(index) ? 'guarded' : 'free' },
      }),
    );
    const random = { next: () => begin / count, uuid: () => '' };
    const budgets = () => [budget('guarded', 0)];
    const decision = decideWith(urgent('2'), snapshotOf(nodes, bound), { budgets, random });
    const remedy = decision.kind === 'unschedulable' ? decision.remedy : undefined;
    return remedy?.kind === 'preempt' && remedy.node;
  }
  const indexes = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

  it('are compared until a hundred or a tenth of them are suitable', () => {
    assert.deepEqual([chosen(110, [99]), chosen(110, [100])], ['n99', 'n0']);
    assert.deepEqual([chosen(1_100, [109]), chosen(1_100, [110])], ['n109', 'n0']);
  });
  it('are not always tried in the same order', () => {
    assert.deepEqual([chosen(110, [94], 105), chosen(110, [95], 105)], ['n94', 'n105']);
  });
  it('are compared further if each violates a budget, until one does not', () => {
    assert.equal(chosen(110, [], 0, indexes(0, 106)), 'n106');
    assert.equal(chosen(110, [108], 0, indexes(1, 108)), 'n0');
  });
});
