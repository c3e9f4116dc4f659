import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod.ts';
import { type Policy, policies, scheduleOne } from '../../../src/scheduler/schedule-one.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { decide, plain, snapshotOf } from './pods.ts';

describe('preferred affinity to nodes', () => {
  it('decides between nodes that suit otherwise, by weight', () => {
    const term = (weight: number, value: string) => ({
      weight,
      preference: { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [value] }] },
    });
    const preferredDuringSchedulingIgnoredDuringExecution = [term(1, 'hdd'), term(9, 'ssd')];
    const one = plain({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } });
    const nodes = ['hdd', 'ssd', 'none'].map((disk) => node(disk, { labels: { disk } }));
    assert.deepEqual(decide(one, snapshotOf(nodes)), { kind: 'node', node: 'ssd' });
    assert.deepEqual(decide(one, snapshotOf(nodes.toSpliced(1, 1))), { kind: 'node', node: 'hdd' });
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
    const decision = decide(plain(), snapshotOf(nodes, pods), policy, lastNode);
    return decision.kind === 'node' ? decision.node : undefined;
  };
  it('RoundRobin goes on from the last and around', () => {
    assert.deepEqual(
      [undefined, 'a', 'b', 'c', 'bb'].map((last) => chosen('RoundRobin', last)),
      ['a', 'b', 'c', 'a', 'c'],
    );
  });
  it('LeastPod, LeastCpu and LeastMem look at what they are named for', () => {
    const many = Array.from({ length: 3 }, (_, index) => on('a', `many${index}`, { cpu: '1m' }));
    assert.equal(
      chosen('LeastPod', undefined, [...many, on('b', 'y', { cpu: '1500m' }), ...bound.slice(2)]),
      'b',
    );
    assert.equal(chosen('LeastCpu'), 'a');
    assert.equal(chosen('LeastMem'), 'c');
  });
  it('LeastCpu looks at the share of the node, of which an empty one has none', () => {
    const half = on('a', 'x', { cpu: '500m' });
    assert.equal(chosen('LeastCpu', undefined, [half, on('b', 'y', { cpu: '1' }), bound[2] ?? half]), 'b');
    assert.equal(chosen('LeastCpu', undefined, [on('a', 'x', { cpu: '1m' }), ...bound.slice(2)]), 'b');
  });
  it('a node that says of no cpu takes pods that ask for none, whatever the policy', () => {
    const mute = [node('n', { allocatable: { pods: '5' } })];
    for (const policy of policies)
      assert.deepEqual(decide(plain(), snapshotOf(mute), policy), { kind: 'node', node: 'n' });
  });
  it('Default prefers the emptiest and avoids what is not preferred', () => {
    assert.equal(chosen('Default', undefined, bound.slice(0, 1)), 'c');
    const shunned = node('c', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] });
    const decision = decide(plain(), snapshotOf([node('a'), shunned]));
    assert.deepEqual(decision, { kind: 'node', node: 'a' });
  });
  const reached = (policy: Policy, pods: readonly Pod[]) => {
    const random = new SeededRandom(5);
    const seen = new Set<string>();
    for (let draw = 0; draw < 50; draw++) {
      const decision = scheduleOne(plain(), snapshotOf(alike, pods).nodes, { policy, random });
      if (decision.kind === 'node') seen.add(decision.node);
    }
    return [...seen].sort();
  };
  const alike = ['a', 'b', 'c'].map((name) => node(name));
  it('Random reaches every node, be it full or empty', () => {
    assert.deepEqual(reached('Random', bound.slice(2)), ['a', 'b', 'c']);
  });
  it('the others reach all that suit best, and no other', () => {
    for (const policy of ['Default', 'LeastPod', 'LeastCpu', 'LeastMem'] as const)
      assert.deepEqual(reached(policy, bound.slice(2)), ['a', 'b'], policy);
    const least = ['a', 'c'].map((name) => on(name, `least-${name}`, { cpu: '1m' }));
    assert.deepEqual(reached('LeastCpu', least), ['b']);
  });
});
