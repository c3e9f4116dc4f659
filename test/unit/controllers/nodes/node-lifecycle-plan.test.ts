import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Taint } from '../../../../src/api/core/v1/node/node.ts';
import {
  type Disruption,
  disruptionOf,
  type NodeObservation,
  planNode,
  readiness,
} from '../../../../src/controllers/nodes/node-lifecycle-plan.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { at, node } from '../objects.ts';

const now = at(1000);
const observe = (over: Partial<NodeObservation> = {}): NodeObservation => ({
  node: node('n1'),
  silence: 0,
  grace: 40_000,
  disruption: 'none',
  now,
  ...over,
});
const silent = { silence: 40_000 };
const taintsOf = (observation: NodeObservation) =>
  planNode(observation).taints?.map(
    ({ key, effect }) => `${key.slice('node.kubernetes.io/'.length)}:${effect}`,
  );
const withCondition = (type: string, status: 'True' | 'False' | 'Unknown'): Node => {
  const base = node('n1');
  return {
    ...base,
    status: {
      ...base.status,
      conditions: [
        { type: 'Ready', status: 'True' },
        { type, status },
      ],
    },
  };
};

describe('a node that sends heartbeats', () => {
  it('is unchanged until its grace period has passed', () => {
    assert.deepEqual(planNode(observe({ silence: 15_000 })), {
      conditions: undefined,
      taints: undefined,
      lost: false,
      lostIn: 25_000,
    });
  });

  for (const [type, status, expected] of [
    ['Ready', 'False', ['not-ready:NoSchedule', 'not-ready:NoExecute']],
    ['MemoryPressure', 'True', ['memory-pressure:NoSchedule']],
    ['DiskPressure', 'True', ['disk-pressure:NoSchedule']],
    ['PIDPressure', 'True', ['pid-pressure:NoSchedule']],
    ['NetworkUnavailable', 'True', ['network-unavailable:NoSchedule']],
    ['MemoryPressure', 'False', undefined],
    ['NetworkUnavailable', 'False', undefined],
  ] as const) {
    it(`with ${type}=${status} has the taints ${expected?.join(', ') ?? 'it had'}`, () => {
      const tainted = type === 'Ready' ? node('n1', { ready: 'False' }) : withCondition(type, status);
      assert.deepEqual(taintsOf(observe({ node: tainted })), expected);
    });
  }

  it("loses only the controller's taints when all problems are over; an unchanged taint keeps its time", () => {
    const others: Taint[] = [
      { key: 'gpu', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: at(1) },
    ];
    const back = node('n1', {
      unschedulable: true,
      taints: [
        { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at(5) },
        ...others,
      ],
    });
    assert.deepEqual(planNode(observe({ node: back })).taints, others);
  });

  it('loses the unschedulable taint when it is uncordoned', () => {
    const before = node('n1', {
      taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    });
    assert.deepEqual(planNode(observe({ node: before })).taints, []);
  });

  it('has the readiness of its condition Ready, and none without it', () => {
    assert.equal(readiness(withCondition('DiskPressure', 'False')), 'True');
    assert.equal(
      readiness({ ...node('n1'), status: { conditions: [{ type: 'DiskPressure', status: 'True' }] } }),
      undefined,
    );
    assert.equal(readiness({ ...node('n1'), status: undefined }), undefined);
  });

  it('gets no conditions and taints before it has a status', () => {
    const { conditions, taints } = planNode(observe({ node: { ...node('n1'), status: undefined } }));
    assert.deepEqual([conditions, taints], [undefined, undefined]);
  });

  it('gets the unschedulable taint when it is cordoned', () => {
    const { taints } = planNode(observe({ node: node('n1', { unschedulable: true }) }));
    assert.deepEqual(taints, [
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: now },
    ]);
  });
});

describe('a node that is silent for its whole grace period', () => {
  it("gets the status Unknown, with upstream's reason, for the agent's conditions, and keeps the others", () => {
    const before = withCondition('NetworkUnavailable', 'False');
    const { conditions, lost, lostIn } = planNode(observe({ node: before, ...silent }));
    assert.deepEqual(
      conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'Unknown', 'NodeStatusUnknown'],
        ['NetworkUnavailable', 'False', undefined],
        ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ],
    );
    assert.equal(conditions?.[0]?.message, 'Kubelet stopped posting node status.');
    assert.equal(conditions?.[0]?.lastTransitionTime, now);
    assert.equal(lost, true);
    assert.equal(lostIn, undefined);
  });

  it('gets all conditions with the time of its creation if it has no status', () => {
    const { conditions } = planNode(observe({ node: { ...node('n1'), status: undefined }, ...silent }));
    assert.deepEqual(
      conditions?.map(({ type }) => type),
      ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'],
    );
    assert.deepEqual(conditions?.[0], {
      type: 'Ready',
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: at(0),
      lastTransitionTime: now,
    });
  });

  it('is tainted in the same step, with the time from which evictions are counted', () => {
    assert.deepEqual(planNode(observe(silent)).taints, [
      { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule', timeAdded: now },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: now },
    ]);
  });

  it('changes from not ready to unreachable', () => {
    const notReady = node('n1', {
      ready: 'False',
      taints: [
        { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      ],
    });
    const expected = ['unreachable:NoSchedule', 'unreachable:NoExecute'];
    assert.deepEqual(taintsOf(observe({ node: notReady, ...silent })), expected);
  });
});

describe('when many nodes are not ready', () => {
  for (const [nodes, unready, expected] of [
    [0, 0, 'none'],
    [1, 0, 'none'],
    [1, 1, 'full'],
    [3, 1, 'none'],
    [3, 2, 'none'],
    [3, 3, 'full'],
    [5, 3, 'partial'],
    [100, 54, 'none'],
    [100, 55, 'partial'],
    [100, 100, 'full'],
  ] as const) {
    it(`${unready} of ${nodes} unready nodes are the state ${expected}`, () =>
      assert.equal(disruptionOf(nodes, unready), expected));
  }

  it('no further node gets a NoExecute taint, but its pods become unready', () => {
    const observation = observe({ ...silent, disruption: 'partial' });
    assert.deepEqual(taintsOf(observation), ['unreachable:NoSchedule']);
    assert.equal(planNode(observation).lost, true);
  });

  it('eviction continues while some nodes send heartbeats, and stops when none does', () => {
    const evicting = node('n1', {
      ready: 'Unknown',
      taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at(5) }],
    });
    const taints = (disruption: Disruption) => taintsOf(observe({ node: evicting, ...silent, disruption }));
    assert.deepEqual(taints('partial'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    assert.deepEqual(taints('full'), ['unreachable:NoSchedule']);
    assert.equal(planNode(observe({ node: evicting, ...silent, disruption: 'full' })).lost, false);
  });

  it('a NoExecute taint is kept only for the same reason', () => {
    const taintsFrom = (...before: Taint[]) =>
      taintsOf(observe({ node: node('n1', { taints: before }), ...silent, disruption: 'partial' }));
    const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
    const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
    assert.deepEqual(taintsFrom(notReady), ['unreachable:NoSchedule']);
    const preferred: Taint = { ...unreachable, effect: 'PreferNoSchedule' };
    assert.deepEqual(taintsFrom(preferred), ['unreachable:PreferNoSchedule', 'unreachable:NoSchedule']);
    assert.deepEqual(taintsFrom(notReady, unreachable), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  });

  it('the pods of a node that was Unknown before are evicted only after a whole grace period of silence', () => {
    const unknown = node('n1', { ready: 'Unknown' });
    assert.deepEqual(taintsOf(observe({ node: unknown, silence: 39_999 })), ['unreachable:NoSchedule']);
    assert.deepEqual(taintsOf(observe({ node: unknown, ...silent })), [
      'unreachable:NoSchedule',
      'unreachable:NoExecute',
    ]);
  });
});

it('a node with the planned changes needs no further changes, from any previous state', () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = new SeededRandom(seed);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)] as T;
    const effects = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'] as const;
    const keys = ['not-ready', 'unreachable', 'disk-pressure', 'unschedulable', 'other'];
    const found = new Map<string, Taint>();
    for (let i = 0; i < 4; i++) {
      const taint: Taint = { key: `node.kubernetes.io/${pick(keys)}`, effect: pick(effects) };
      found.set(`${taint.key}:${taint.effect}`, taint);
    }
    const start = node('n1', { unschedulable: pick([true, false]), taints: [...found.values()] });
    const statuses = ['True', 'False', 'Unknown'] as const;
    start.status = {
      ...start.status,
      conditions: ['Ready', 'DiskPressure', 'NetworkUnavailable', 'Custom']
        .filter(() => random.next() < 0.8)
        .map((type) => ({ type, status: pick(statuses) })),
    };
    const observation = observe({
      silence: pick([0, 39_999, 40_000, 90_000]),
      disruption: pick(['none', 'partial', 'full'] as const),
    });
    const plan = planNode({ ...observation, node: start });
    const after: Node = {
      ...start,
      spec: { ...start.spec, taints: plan.taints ?? start.spec.taints },
      status: { ...start.status, conditions: plan.conditions ?? start.status.conditions },
    };
    const again = planNode({ ...observation, node: after, now: at(2000) });
    assert.deepEqual([again.conditions, again.taints], [undefined, undefined], `seed ${seed}`);
    const foreign = (taints: readonly Taint[] = []) =>
      taints.filter(({ key, effect }) => key.endsWith('other') || effect === 'PreferNoSchedule');
    assert.deepEqual(foreign(after.spec.taints), foreign(start.spec.taints), `seed ${seed}: not ours`);
    const identities = (after.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
    assert.equal(new Set(identities).size, identities.length, `seed ${seed}: each taint once`);
  }
});
