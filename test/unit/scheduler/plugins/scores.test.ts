import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { NodeSelectorTerm } from '../../../../src/api/core/v1/types.gen.ts';
import { Cycle } from '../../../../src/scheduler/cycle.ts';
import type { Plugin } from '../../../../src/scheduler/framework.ts';
import { plugins } from '../../../../src/scheduler/plugins/index.ts';
import { nodeAffinity } from '../../../../src/scheduler/plugins/node-affinity.ts';
import { resourcesFit as fitting } from '../../../../src/scheduler/plugins/resources-fit.ts';
import { taintToleration } from '../../../../src/scheduler/plugins/taint-toleration.ts';
import { podInfo } from '../../../../src/scheduler/pod-info.ts';
import { container, type NodeOptions, node, pod } from '../../controllers/objects.ts';
import { snapshotOf } from '../pods.ts';

const mebi = 1024 * 1024;
const resourcesFit = fitting({ type: 'LeastAllocated' });

const asking = (requests: Record<string, string>, spec: Partial<Pod['spec']> = {}) =>
  pod('p', {
    phase: 'Pending',
    spec: { nodeName: undefined, containers: [container({ resources: { requests } })], ...spec },
  });

/** Returns the result of a plugin for one pod and one node. */
function look(plugin: Plugin, one: Pod, options: NodeOptions = {}, bound: readonly Pod[] = []) {
  const snapshot = snapshotOf([node('n', options)], bound);
  const [info] = snapshot.nodes;
  assert.ok(info);
  const cycle = Cycle.begin(podInfo(one), snapshot, [plugin]);
  assert.ok(cycle instanceof Cycle);
  const prepared = plugin.preScore?.(podInfo(one), snapshot.nodes, snapshot);
  const state = prepared === 'skip' ? undefined : prepared?.state;
  return {
    score: prepared === 'skip' ? undefined : plugin.score?.(podInfo(one), info, state),
    rejections: cycle.rejections(info),
  };
}

describe('the score by resources', () => {
  const room = { allocatable: { cpu: '2', memory: '1000Mi', pods: '10' } };
  const scoreOf = (one: Pod, options: NodeOptions = room, bound: readonly Pod[] = []) =>
    look(resourcesFit, one, options, bound).score;

  it('is the mean of the shares of cpu and memory that stay free', () => {
    assert.equal(scoreOf(asking({ cpu: '500m', memory: '500Mi' })), (75 + 50) / 2);
    assert.equal(scoreOf(asking({ cpu: '1', memory: '100Mi' })), (50 + 90) / 2);
  });

  it('includes existing pods', () => {
    const there = pod('b', {
      spec: {
        nodeName: 'n',
        containers: [container({ resources: { requests: { cpu: '1', memory: '200Mi' } } })],
      },
    });
    assert.equal(scoreOf(asking({ cpu: '500m', memory: '300Mi' }), room, [there]), (25 + 50) / 2);
  });

  it('uses typical requests for containers without requests', () => {
    const two = asking({}, { containers: [container({ name: 'a' }), container({ name: 'b' })] });
    assert.equal(scoreOf(two), (90 + 60) / 2);
    assert.deepEqual([...podInfo(two).requests], []);
    assert.deepEqual(Object.fromEntries(podInfo(two).weighed), { cpu: 200, memory: 400 * mebi });
    assert.deepEqual(Object.fromEntries(podInfo(asking({ cpu: '1m' })).weighed), {
      cpu: 1,
      memory: 200 * mebi,
    });
  });

  it('counts 0 for a resource that is full, overcommitted or absent', () => {
    assert.equal(scoreOf(asking({ cpu: '2', memory: '1000Mi' })), 0);
    assert.equal(scoreOf(asking({ cpu: '3', memory: '500Mi' })), 25);
    assert.equal(
      scoreOf(asking({ cpu: '1', memory: '100Mi' }), { allocatable: { cpu: '0', memory: '0', pods: '1' } }),
      0,
    );
  });
});

describe('the shortage of a node', () => {
  it('is reported with the requested and the free amount', () => {
    const there = pod('b', { spec: { nodeName: 'n' } });
    const full = { allocatable: { pods: '1' } };
    assert.deepEqual(
      look(resourcesFit, asking({}), full, [there, { ...there, metadata: { ...there.metadata, uid: 'c' } }])
        .rejections,
      [
        {
          plugin: 'NodeResourcesFit',
          text: 'Too many pods',
          shortage: { resource: 'pods', requested: 1, free: -1 },
        },
      ],
    );
    assert.deepEqual(look(resourcesFit, asking({ cpu: '3' })).rejections, [
      {
        plugin: 'NodeResourcesFit',
        text: 'Insufficient cpu',
        unresolvable: true,
        shortage: { resource: 'cpu', requested: 3000, free: 2000 },
      },
    ]);
  });

  it('is absent if the pod does not request the resource, even on an overcommitted node', () => {
    const there = pod('b', {
      spec: { nodeName: 'n', containers: [container({ resources: { requests: { cpu: '3' } } })] },
    });
    assert.deepEqual(
      look(resourcesFit, asking({ cpu: '0', 'nvidia.com/gpu': '0' }), {}, [there]).rejections,
      [],
    );
  });

  it('is computed from the capacity if the status has no allocatable resources', () => {
    const { status, ...rest } = node('n');
    const snapshot = snapshotOf([
      { ...rest, status: { ...status, allocatable: undefined, capacity: { cpu: '7' } } },
    ]);
    assert.equal(snapshot.nodes[0]?.allocatable.get('cpu'), 7000);
  });
});

describe('the score by taints', () => {
  const shy = (key: string) => ({ key, effect: 'PreferNoSchedule' as const });
  const scoreOf = (one: Pod, options: NodeOptions) => look(taintToleration, one, options).score;

  it('falls with each PreferNoSchedule taint', () => {
    assert.equal(scoreOf(asking({}), {}), undefined);
    assert.equal(scoreOf(asking({}), { taints: [shy('a')] }), 1);
    assert.equal(scoreOf(asking({}), { taints: [shy('a'), shy('b'), shy('c')] }), 3);
    const scores = [0, 1, 4];
    taintToleration.normalize?.(scores, [], undefined);
    assert.deepEqual(scores, [100, 75, 0]);
  });

  it('ignores tolerated taints and NoSchedule taints', () => {
    const tolerant = asking({}, { tolerations: [{ key: 'a', operator: 'Exists' }] });
    assert.equal(scoreOf(tolerant, { taints: [shy('a'), shy('b')] }), 1);
    assert.equal(scoreOf(asking({}), { taints: [{ key: 'a', effect: 'NoSchedule' }] }), undefined);
  });
});

test('a node that is not ready keeps its own taints, and has the taint not-ready once', () => {
  const all = { taints: [{ key: 'own', effect: 'NoSchedule' as const }], ready: 'False' as const };
  const ready = asking({}, { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] });
  assert.match(look(taintToleration, ready, all).rejections[0]?.text ?? '', /\{own: \}/);
  const own = asking({}, { tolerations: [{ key: 'own', operator: 'Exists' }] });
  assert.match(look(taintToleration, own, all).rejections[0]?.text ?? '', /not-ready/);
  // The same key with another effect is another taint.
  const both = {
    ready: 'False' as const,
    taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' as const }],
  };
  const leaves = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists' as const, effect: 'NoExecute' as const },
  ];
  assert.equal(look(taintToleration, asking({}, { tolerations: leaves }), both).rejections.length, 1);
});

describe('the score by labels', () => {
  const prefer = (...terms: [weight: number, term: NodeSelectorTerm][]) =>
    asking(
      {},
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({
              weight,
              preference,
            })),
          },
        },
      },
    );
  const zone = (value: string): NodeSelectorTerm => ({
    matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }],
  });
  const scoreOf = (one: Pod) => look(nodeAffinity, one, { labels: { zone: 'a' } }).score;

  it('is the sum of the weights of the preferences that the node meets', () => {
    assert.equal(scoreOf(prefer([30, zone('a')], [10, zone('b')], [5, zone('a')])), 35);
    assert.equal(scoreOf(prefer([1, zone('b')])), 0);
    assert.equal(scoreOf(prefer()), undefined);
    const scores = [10, 0, 40];
    nodeAffinity.normalize?.(scores, [], undefined);
    assert.deepEqual(scores, [25, 0, 100]);
  });

  for (const [operator, values, met] of [
    ['In', ['a'], true],
    ['NotIn', ['a'], false],
    ['NotIn', ['b'], true],
    ['Exists', [], true],
    ['DoesNotExist', [], false],
    ['Gt', ['3'], true],
    ['Gt', ['4'], false],
    ['Lt', ['5'], true],
    ['Lt', ['4'], false],
  ] as const) {
    it(`evaluates ${operator} ${values.join()}`, () => {
      const key = operator === 'Gt' || operator === 'Lt' ? 'size' : 'zone';
      const one = prefer([1, { matchExpressions: [{ key, operator, values: [...values] }] }]);
      assert.equal(look(nodeAffinity, one, { labels: { zone: 'a', size: '4' } }).score, met ? 1 : 0);
    });
  }

  it('counts a preference only if both its expression and its field match', () => {
    const both = (name: string): NodeSelectorTerm => ({
      ...zone('a'),
      matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
    });
    assert.equal(scoreOf(prefer([1, both('n')])), 1);
    assert.equal(scoreOf(prefer([1, both('other')])), 0);
  });
});

test("plugins have Kubernetes' names, and each rejection has the name of its plugin", () => {
  assert.deepEqual(
    plugins()
      .map(({ name }) => name)
      .sort(),
    [
      'DefaultBinder',
      'DefaultPreemption',
      'ImageLocality',
      'InterPodAffinity',
      'NodeAffinity',
      'NodeName',
      'NodePorts',
      'NodeResourcesBalancedAllocation',
      'NodeResourcesFit',
      'NodeUnschedulable',
      'PodTopologySpread',
      'SchedulingPolicy',
      'TaintToleration',
      'VolumeBinding',
      'VolumeRestrictions',
    ],
  );
  const ports = [{ containerPort: 80, hostPort: 80, protocol: 'TCP' as const }];
  const labelSelector = { matchLabels: { app: 'web' } };
  const one = asking(
    { cpu: '9' },
    {
      nodeName: 'other',
      nodeSelector: { zone: 'b' },
      containers: [container({ ports, resources: { requests: { cpu: '9' } } })],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector },
      ],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host', labelSelector }],
        },
      },
    },
  );
  const there = pod('b', { spec: { nodeName: 'n', containers: [container({ ports })] } });
  const labels = { host: 'n' };
  const options = { labels, unschedulable: true, taints: [{ key: 'k', effect: 'NoSchedule' as const }] };
  const silent = ['SchedulingPolicy', 'VolumeRestrictions', 'VolumeBinding'];
  for (const plugin of plugins().filter(({ name, filter }) => filter && !silent.includes(name))) {
    const names = look(plugin, one, options, [there]).rejections.map((rejection) => rejection.plugin);
    assert.deepEqual(names, [plugin.name]);
  }
});

test('a node is rejected only if a host port that the pod requests is in use', () => {
  const plugin = plugins().find(({ name }) => name === 'NodePorts');
  assert.ok(plugin);
  const taking = (...numbers: number[]) => [
    container({
      ports: numbers.map((hostPort) => ({ containerPort: 1, hostPort, protocol: 'TCP' as const })),
    }),
  ];
  const there = pod('b', { spec: { nodeName: 'n', containers: taking(80, 81) } });
  const refused = (...numbers: number[]) =>
    look(plugin, asking({}, { containers: taking(...numbers) }), {}, [there]).rejections.length;
  assert.deepEqual([refused(80), refused(81), refused(82), refused(82, 81), refused()], [1, 1, 0, 1, 0]);
});
