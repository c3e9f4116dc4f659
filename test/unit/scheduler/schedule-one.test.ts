import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { Cycle } from '../../../src/scheduler/cycle.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { type Policy, policies } from '../../../src/scheduler/policies.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { decideWith, nodeFor, plain, snapshotOf, wanting } from './pods.ts';

describe('preferred affinity to nodes', () => {
  it('decides between otherwise suitable nodes, by weight', () => {
    const term = (weight: number, value: string) => ({
      weight,
      preference: { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [value] }] },
    });
    const preferredDuringSchedulingIgnoredDuringExecution = [term(1, 'hdd'), term(9, 'ssd')];
    const one = plain({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } });
    const nodes = ['hdd', 'ssd', 'none'].map((disk) => node(disk, { labels: { disk } }));
    assert.equal(nodeFor(one, snapshotOf(nodes)), 'ssd');
    assert.equal(nodeFor(one, snapshotOf(nodes.toSpliced(1, 1))), 'hdd');
  });
});

describe('policies', () => {
  const nodes = [node('a'), node('b', { allocatable: { cpu: '8', memory: '1Gi', pods: '10' } }), node('c')];
  const on = (nodeName: string, name: string, requests: Record<string, string>) =>
    pod(name, { spec: { nodeName, containers: [container({ resources: { requests } })] } });
  const bound = [
    on('a', 'x', { cpu: '100m', memory: '3Gi' }),
    on('b', 'y', { cpu: '1', memory: '128Mi' }),
    on('c', 'z', { cpu: '1500m', memory: '64Mi' }),
    on('c', 'w', { cpu: '10m', memory: '64Mi' }),
  ];
  const chosen = (policy: Policy, lastNode?: string, pods = bound) => {
    return nodeFor(plain(), snapshotOf(nodes, pods), { policy, lastNode });
  };
  it('RoundRobin continues after the last chosen node, and after the last of all with the first', () => {
    assert.deepEqual(
      [undefined, 'a', 'b', 'c', 'bb'].map((last) => chosen('RoundRobin', last)),
      ['a', 'b', 'c', 'a', 'c'],
    );
  });
  it('LeastPod, LeastCpu and LeastMem compare the resource of their name', () => {
    const many = Array.from({ length: 3 }, (_, index) => on('a', `many${index}`, { cpu: '1m' }));
    assert.equal(
      chosen('LeastPod', undefined, [...many, on('b', 'y', { cpu: '1500m' }), ...bound.slice(2)]),
      'b',
    );
    assert.equal(chosen('LeastCpu'), 'a');
    assert.equal(chosen('LeastMem'), 'c');
  });
  it('LeastCpu compares the used share of cpu, which is zero for an empty node', () => {
    const half = on('a', 'x', { cpu: '500m' });
    assert.equal(chosen('LeastCpu', undefined, [half, on('b', 'y', { cpu: '1' }), bound[2] ?? half]), 'b');
    assert.equal(chosen('LeastCpu', undefined, [on('a', 'x', { cpu: '1m' }), ...bound.slice(2)]), 'b');
  });
  it('a node without cpu in its status accepts pods without a cpu request, with any policy', () => {
    const mute = [node('n', { allocatable: { pods: '5' } })];
    for (const policy of policies) assert.equal(nodeFor(plain(), snapshotOf(mute), { policy }), 'n');
    const two = [...mute, node('m', { allocatable: { pods: '5' } })];
    for (const policy of policies) assert.ok(nodeFor(plain(), snapshotOf(two), { policy }), policy);
  });
  it('Default prefers the emptiest node and avoids PreferNoSchedule taints', () => {
    assert.equal(chosen('Default', undefined, bound.slice(0, 1)), 'c');
    const shunned = node('c', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] });
    assert.equal(nodeFor(plain(), snapshotOf([node('a'), shunned])), 'a');
  });
  const reached = (policy: Policy, pods: readonly Pod[]) => {
    const random = new SeededRandom(5);
    const seen = new Set<string>();
    for (let draw = 0; draw < 50; draw++) {
      const name = nodeFor(plain(), snapshotOf(alike, pods), { policy, random });
      if (name) seen.add(name);
    }
    return [...seen].sort();
  };
  const alike = ['a', 'b', 'c'].map((name) => node(name));
  it('Random reaches every node, be it full or empty', () => {
    assert.deepEqual(reached('Random', bound.slice(2)), ['a', 'b', 'c']);
  });
  it('the other policies choose exactly among the best nodes', () => {
    for (const policy of ['Default', 'LeastPod', 'LeastCpu', 'LeastMem'] as const)
      assert.deepEqual(reached(policy, bound.slice(2)), ['a', 'b'], policy);
    const least = ['a', 'c'].map((name) => on(name, `least-${name}`, { cpu: '1m' }));
    assert.deepEqual(reached('LeastCpu', least), ['b']);
  });
});

describe('many nodes', () => {
  const many = Array.from({ length: 300 }, (_, index) => node(`n${index}`));
  const busy = (free: number) =>
    many.flatMap(({ metadata: { name } }, index) =>
      index === free
        ? []
        : [
            pod(`p${index}`, {
              spec: { nodeName: name, containers: [container({ resources: { requests: { cpu: '1' } } })] },
            }),
          ],
    );
  it('are checked from the given start until enough of them are suitable', () => {
    const look = (free: number, begin: number) => {
      const decision = decideWith(plain(), snapshotOf(many, busy(free)), { begin });
      assert.equal(decision.kind, 'node');
      return decision.kind === 'node' && [decision.node === `n${free}`, decision.lookedAt];
    };
    const enough = 144;
    assert.deepEqual(look(143, 0), [true, enough]);
    assert.deepEqual(look(144, 0), [false, enough]);
    assert.deepEqual(look(93, 250), [true, enough]);
    assert.deepEqual(look(94, 250), [false, enough]);
  });
  it('are each checked once if none is suitable, or with a policy that compares all nodes', () => {
    const large = wanting('p', { cpu: '2' });
    assert.deepEqual(nodeFor(large, snapshotOf(many, busy(299)), { begin: 7 }), 'n299');
    assert.deepEqual(nodeFor(plain(), snapshotOf(many, busy(299)), { policy: 'LeastPod' }), 'n299');
  });
  it('a pod that names several nodes gets one of them, and a pod that excludes a node gets another', () => {
    const asking = (...nodeSelectorTerms: object[]) =>
      plain({
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } as never,
        },
      });
    const named = (operator: string, ...values: string[]) => ({
      matchFields: values.map((value) => ({ key: 'metadata.name', operator, values: [value] })),
    });
    const labelled = { matchExpressions: [{ key: 'disk', operator: 'Exists' }] };
    const nodes = [node('a'), node('b'), node('c', { labels: { disk: 'ssd' } })];
    const places = (one: Pod) =>
      ['a', 'b', 'c'].filter(
        (name) => nodeFor(one, snapshotOf(nodes.filter(({ metadata }) => metadata.name === name))) === name,
      );
    // Returns the nodes to which the pod is limited by name before any node is checked.
    const together = (one: Pod) => {
      const { nodes: names } = Cycle.begin(podInfo(one), snapshotOf(nodes), plugins()) as Cycle;
      return names;
    };
    const table: [Pod, string[], string[] | undefined][] = [
      [asking(named('In', 'a'), named('In', 'b')), ['a', 'b'], ['a', 'b']],
      [asking(named('NotIn', 'a')), ['b', 'c'], undefined],
      [asking(named('In', 'a'), labelled), ['a', 'c'], undefined],
      [asking({ ...named('In', 'c'), ...labelled }), ['c'], ['c']],
      [asking(named('In', 'gone')), [], ['gone']],
    ];
    for (const [one, expected, names] of table)
      assert.deepEqual([places(one), together(one)], [expected, names]);
  });
});

it('a pod that waits for a node is bound there as soon as it fits, even if another is emptier', () => {
  const bound = [
    pod('x', { spec: { nodeName: 'a', containers: [container({ resources: { requests: { cpu: '1' } } })] } }),
  ];
  const snapshot = snapshotOf([node('a'), node('b')], bound);
  const decide = (cpu: string, nominated: string | undefined) => {
    const decision = decideWith(wanting('p', { cpu }), snapshot, { nominated });
    return decision.kind === 'node' && [decision.node, decision.lookedAt];
  };
  assert.deepEqual(decide('1', undefined), ['b', 2]);
  assert.deepEqual(decide('1', 'a'), ['a', 0]);
  assert.deepEqual(decide('2', 'a'), ['b', 2]);
  assert.deepEqual(decide('1', 'gone'), ['b', 2]);
});
