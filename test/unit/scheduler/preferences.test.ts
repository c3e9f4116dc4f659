/** Preferences between nodes other than affinity, and the number of nodes that are examined. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { policyAnnotation } from '../../../src/scheduler/policies.ts';
import { enoughOf } from '../../../src/scheduler/schedule-one.ts';
import { parseScoringStrategy, scoreOf } from '../../../src/scheduler/scoring-strategy.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { decideWith, nodeFor, plain, snapshotOf, wanting } from './pods.ts';

const on = (nodeName: string, name: string, requests: Record<string, string>, app = 'web') =>
  pod(name, {
    metadata: { labels: { app } },
    spec: { nodeName, containers: [container({ resources: { requests } })] },
  });

describe('scoring strategies', () => {
  it('are parsed from the value of the flag', () => {
    assert.deepEqual(parseScoringStrategy('MostAllocated'), { type: 'MostAllocated' });
    assert.deepEqual(parseScoringStrategy('RequestedToCapacityRatio=0:10,100:0'), {
      type: 'RequestedToCapacityRatio',
      shape: [
        [0, 10],
        [100, 0],
      ],
    });
    for (const wrong of [
      '',
      'Most',
      'RequestedToCapacityRatio=',
      'RequestedToCapacityRatio=0:11',
      'RequestedToCapacityRatio=101:1',
      'RequestedToCapacityRatio=5:1,5:2',
    ])
      assert.equal(parseScoringStrategy(wrong), undefined, wrong);
  });
  for (const [text, taken, expected] of [
    ['LeastAllocated', 1, 75],
    ['LeastAllocated', 5, 0],
    ['MostAllocated', 1, 25],
    ['MostAllocated', 5, 100],
    ['RequestedToCapacityRatio=0:0,50:10,100:2', 1, 50],
    ['RequestedToCapacityRatio=0:0,50:10,100:2', 2, 100],
    ['RequestedToCapacityRatio=0:0,50:10,100:2', 3, 60],
    ['RequestedToCapacityRatio=0:0,50:10,100:2', 9, 20],
    ['RequestedToCapacityRatio=30:4,60:8', 0, 40],
    ['RequestedToCapacityRatio=30:4,60:8', 4, 80],
    ['RequestedToCapacityRatio=25:4,75:8', 1, 40],
    ['RequestedToCapacityRatio=25:4,75:8', 3, 80],
    ['RequestedToCapacityRatio=50:5', 4, 50],
  ] as const)
    it(`give ${expected} points if ${taken} of 4 are used with ${text}`, () => {
      const strategy = parseScoringStrategy(text);
      assert.ok(strategy);
      assert.equal(scoreOf(strategy, taken, 4), expected);
      assert.equal(scoreOf(strategy, taken, 0), 0);
      assert.equal(scoreOf(strategy, taken / 4, 1), expected);
    });
  it('decide which node is chosen', () => {
    const snapshot = snapshotOf([node('a'), node('b')], [on('a', 'x', { cpu: '1', memory: '2Gi' })]);
    const by = (strategy: 'LeastAllocated' | 'MostAllocated') =>
      nodeFor(wanting('p', { cpu: '100m', memory: '200Mi' }), snapshot, {
        plugins: plugins({ type: strategy }),
      });
    assert.deepEqual([by('LeastAllocated'), by('MostAllocated')], ['b', 'a']);
  });
});

it('a node is preferred on which cpu and memory are used in equal shares', () => {
  const room = { allocatable: { cpu: '4', memory: '4Gi', pods: '10' } };
  const bound = [on('a', 'x', { cpu: '2', memory: '1Gi' }), on('b', 'y', { cpu: '1', memory: '2Gi' })];
  const snapshot = snapshotOf([node('a', room), node('b', room)], bound);
  assert.equal(nodeFor(wanting('p', { cpu: '1', memory: '10Mi' }), snapshot), 'b');
  assert.equal(nodeFor(wanting('p', { cpu: '10m', memory: '1Gi' }), snapshot), 'a');
});

describe('images', () => {
  const having = (name: string, ...images: [string, number][]): Node => {
    const made = node(name);
    const list = images.map(([image, sizeBytes]) => ({ names: [image], sizeBytes }));
    return { ...made, status: { ...made.status, images: list } };
  };
  const using = (image: string) => plain({ containers: [container({ image })] });
  it('make a node preferred that has them with the requested tag', () => {
    const snapshot = snapshotOf([having('a'), having('b', ['app:latest', 900e6])]);
    assert.equal(nodeFor(using('app'), snapshot), 'b');
    snapshot.setNode(having('b'));
    snapshot.setNode(having('a', ['app:latest', 900e6]));
    assert.equal(nodeFor(using('app'), snapshot), 'a');
  });
  it('that are small are ignored', () => {
    const snapshot = snapshotOf([having('a'), having('b', ['app:1', 1e6])]);
    const seen = new Set(
      Array.from({ length: 40 }, (_, seed) =>
        nodeFor(using('app:1'), snapshot, { random: { next: () => (seed % 2) / 2, uuid: () => '' } }),
      ),
    );
    assert.equal(seen.size, 2);
  });
});

describe('pods of one Service or set', () => {
  const zones = ['a1', 'a2', 'b1'].map((name) =>
    node(name, {
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': name.slice(0, 1) },
    }),
  );
  const snapshotWith = (siblings: boolean) => {
    const snapshot = new Snapshot({
      namespaceLabels: () => undefined,
      siblingsOf: () =>
        siblings ? { requirements: [{ key: 'app', operator: '=', values: ['web'] }] } : undefined,
      volumes: {
        claim: () => undefined,
        volumesFor: () => [],
        volume: () => undefined,
        storageClass: () => undefined,
      },
    });
    for (const one of zones) snapshot.setNode(one);
    snapshot.setPod(on('b1', 'x', {}));
    // The same amount is used on every node.
    for (const name of ['a1', 'a2']) snapshot.setPod(on(name, `other-${name}`, {}, 'other'));
    return snapshot;
  };
  const places = (snapshot: Snapshot) =>
    new Set(
      Array.from({ length: 30 }, (_, draw) =>
        nodeFor(wanting('p', {}), snapshot, { random: { next: () => draw / 30, uuid: () => '' } }),
      ),
    );
  it('are spread over nodes and zones by default', () => {
    assert.deepEqual([...places(snapshotWith(true))].sort(), ['a1', 'a2']);
    assert.deepEqual([...places(snapshotWith(false))].sort(), ['a1', 'a2', 'b1']);
  });
});

describe('the policy of a pod', () => {
  const asking = (policy: string): Pod => {
    const made = plain();
    return { ...made, metadata: { ...made.metadata, annotations: { [policyAnnotation]: policy } } };
  };
  const snapshot = snapshotOf(
    [node('a'), node('b')],
    [on('a', 'x', { cpu: '1' }), on('b', 'y', {}), on('b', 'z', {})],
  );
  it('takes precedence over the policy of the scheduler', () => {
    assert.equal(nodeFor(asking('LeastPod'), snapshot), 'a');
    assert.equal(nodeFor(asking('LeastCpu'), snapshot, { policy: 'LeastPod' }), 'b');
    assert.equal(nodeFor(asking('RoundRobin'), snapshot, { lastNode: 'a' }), 'b');
  });
  it('must exist', () => {
    const decision = decideWith(asking('Fastest'), snapshot);
    assert.match(
      (decision.kind === 'unschedulable' && decision.refused?.text) || '',
      /"Fastest" does not exist; use one of/,
    );
  });
});

it('only a share of many nodes is examined', () => {
  assert.deepEqual([5, 100, 101, 1_000, 5_000, 20_000].map(enoughOf), [5, 100, 100, 420, 500, 1_000]);
});
