import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod.ts';
import type { NodeSelectorTerm, Toleration } from '../../../src/api/core/v1/types.gen.ts';
import { explain, report } from '../../../src/scheduler/explain.ts';
import { type Policy, policies, scheduleOne } from '../../../src/scheduler/schedule-one.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, type NodeOptions, node, pod } from '../controllers/objects.ts';

const wanting = (name: string, requests: Record<string, string>, spec: Partial<Pod['spec']> = {}) =>
  pod(name, {
    phase: 'Pending',
    spec: { nodeName: undefined, containers: [container({ resources: { requests } })], ...spec },
  });
const plain = (spec: Partial<Pod['spec']> = {}) => wanting('p', {}, spec);

function snapshotOf(nodes: readonly Node[], bound: readonly Pod[] = []): Snapshot {
  const snapshot = new Snapshot();
  for (const one of nodes) snapshot.setNode(one);
  for (const one of bound) snapshot.setPod(one);
  return snapshot;
}

const decide = (one: Pod, snapshot: Snapshot, policy: Policy = 'Default', lastNode?: string) =>
  scheduleOne(one, snapshot.nodes, { policy, random: new SeededRandom(1), lastNode });

const texts = (one: Pod, nodes: readonly Node[], bound: readonly Pod[] = []) => {
  const decision = decide(one, snapshotOf(nodes, bound));
  return decision.kind === 'node'
    ? []
    : decision.nodes.flatMap(({ rejections }) => rejections.map(({ text }) => text));
};

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

describe('filters', () => {
  const dedicated = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' as const };
  const tolerating = (toleration: Toleration) => plain({ tolerations: [toleration] });
  const untolerated = 'node(s) had untolerated taint {dedicated: gpu}';
  const port = (hostPort: number, over = {}) =>
    plain({
      containers: [container({ ports: [{ containerPort: 80, protocol: 'TCP', hostPort, ...over }] })],
    });
  const boundPort = (hostPort: number, over = {}) => {
    const one = port(hostPort, over);
    return pod('b', { spec: { ...one.spec, nodeName: 'n' } });
  };
  const noPort = "node(s) didn't have free ports for the requested pod ports";
  type Terms = NodeSelectorTerm[];
  const affine = (nodeSelectorTerms: Terms, more: Partial<Pod['spec']> = {}) =>
    plain({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      ...more,
    });
  const disk = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt', ...values: string[]) => ({
    key: 'disk',
    operator,
    values,
  });
  const named = (name: string): NodeSelectorTerm => ({
    matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
  });
  const ssd = { labels: { disk: 'ssd' } };
  const noMatch = "node(s) didn't match Pod's node affinity/selector";
  const table: [string, Pod, NodeOptions, Pod[], string[]][] = [
    ['an idle node', plain(), {}, [], []],
    ['the requested node', plain({ nodeName: 'n' }), {}, [], []],
    [
      'a node by what is not heeded',
      plain({
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] },
        },
        topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule' }],
      } as unknown as Partial<Pod['spec']>),
      {},
      [],
      [
        'node(s) cannot be chosen by these fields, which minik8s does not support yet: spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution, spec.topologySpreadConstraints[0].whenUnsatisfiable',
      ],
    ],
    ['another node', plain({ nodeName: 'x' }), {}, [], ["node(s) didn't match the requested node name"]],
    ['a cordoned node', plain(), { unschedulable: true }, [], ['node(s) were unschedulable']],
    [
      'a cordoned node, tolerated',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
      { unschedulable: true },
      [],
      [],
    ],
    ['a taint', plain(), { taints: [dedicated] }, [], [untolerated]],
    [
      'a taint, tolerated by value',
      tolerating({ key: 'dedicated', value: 'gpu' }),
      { taints: [dedicated] },
      [],
      [],
    ],
    [
      'a taint of another value',
      tolerating({ key: 'dedicated', value: 'x' }),
      { taints: [dedicated] },
      [],
      [untolerated],
    ],
    ['a taint, all tolerated', tolerating({ operator: 'Exists' }), { taints: [dedicated] }, [], []],
    [
      'a taint of another effect',
      tolerating({ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }),
      { taints: [dedicated] },
      [],
      [untolerated],
    ],
    [
      'a taint that also ends pods',
      plain(),
      { taints: [{ ...dedicated, effect: 'NoExecute' }] },
      [],
      [untolerated],
    ],
    [
      'a taint that only prefers',
      plain(),
      { taints: [{ ...dedicated, effect: 'PreferNoSchedule' }] },
      [],
      [],
    ],
    [
      'a node that is not ready',
      plain(),
      { ready: 'False' },
      [],
      ['node(s) had untolerated taint {node.kubernetes.io/not-ready: }'],
    ],
    [
      'a node that is silent',
      plain(),
      { ready: 'Unknown' },
      [],
      ['node(s) had untolerated taint {node.kubernetes.io/unreachable: }'],
    ],
    ['a node of its affinity', affine([{ matchExpressions: [disk('In', 'hdd', 'ssd')] }]), ssd, [], []],
    ['a node of another kind', affine([{ matchExpressions: [disk('NotIn', 'ssd')] }]), ssd, [], [noMatch]],
    [
      'all of a term',
      affine([{ matchExpressions: [disk('Exists'), disk('In', 'hdd')] }]),
      ssd,
      [],
      [noMatch],
    ],
    ['one of two terms', affine([{ matchExpressions: [disk('DoesNotExist')] }, named('n')]), ssd, [], []],
    ['a node by name', affine([named('x')]), ssd, [], [noMatch]],
    [
      'more than a number',
      affine([{ matchExpressions: [disk('Gt', '9')] }]),
      { labels: { disk: '10' } },
      [],
      [],
    ],
    ['a term of nothing', affine([{}]), ssd, [], [noMatch]],
    [
      'its affinity, not its selector',
      affine([named('n')], { nodeSelector: { disk: 'hdd' } }),
      ssd,
      [],
      [noMatch],
    ],
    ['a label it selects', plain({ nodeSelector: { disk: 'ssd' } }), { labels: { disk: 'ssd' } }, [], []],
    [
      'a label it does not have',
      plain({ nodeSelector: { disk: 'ssd' } }),
      { labels: { disk: 'hdd' } },
      [],
      ["node(s) didn't match Pod's node affinity/selector"],
    ],
    ['room to the last bit', wanting('p', { cpu: '2', memory: '4Gi' }), {}, [], []],
    ['too little cpu', wanting('p', { cpu: '2001m' }), {}, [], ['Insufficient cpu']],
    [
      'too little of both',
      wanting('p', { cpu: '3', memory: '5Gi' }),
      {},
      [],
      ['Insufficient cpu', 'Insufficient memory'],
    ],
    [
      'a resource that the node lacks',
      wanting('p', { 'nvidia.com/gpu': '1' }),
      {},
      [],
      ['Insufficient nvidia.com/gpu'],
    ],
    [
      'what others left',
      wanting('p', { cpu: '1' }),
      {},
      [
        pod('b', {
          spec: { nodeName: 'n', containers: [container({ resources: { requests: { cpu: '1100m' } } })] },
        }),
      ],
      ['Insufficient cpu'],
    ],
    [
      'limits count as requests when those are missing',
      plain({ containers: [container({ resources: { limits: { cpu: '3' } } })] }),
      {},
      [],
      ['Insufficient cpu'],
    ],
    [
      'no more pods',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { spec: { nodeName: 'n' } })],
      ['Too many pods'],
    ],
    [
      'pods that are over take nothing',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { phase: 'Failed' })],
      [],
    ],
    ['a port that is taken', port(80), {}, [boundPort(80)], [noPort]],
    ['a port of another protocol', port(80, { protocol: 'UDP' }), {}, [boundPort(80)], []],
    [
      'a port of another address',
      port(80, { hostIP: '10.0.0.1' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [],
    ],
    [
      'a port of an address spelled otherwise',
      port(80, { hostIP: '::ffff:10.0.0.2' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [noPort],
    ],
    [
      'a port of every address of either family',
      port(80, { hostIP: '::' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [noPort],
    ],
    ['a port of every address, by default', port(80), {}, [boundPort(80, { hostIP: '10.0.0.2' })], [noPort]],
    [
      'a port of one address, taken for every address',
      port(80, { hostIP: '10.0.0.2' }),
      {},
      [boundPort(80)],
      [noPort],
    ],
    [
      'host networking takes container ports',
      plain({
        hostNetwork: true,
        containers: [container({ ports: [{ containerPort: 80, protocol: 'TCP' }] })],
      }),
      {},
      [boundPort(80)],
      [noPort],
    ],
  ];
  for (const [name, one, options, bound, expected] of table)
    it(name, () => assert.deepEqual(texts(one, [node('n', options)], bound), expected));

  it('a node that has said nothing yet', () => {
    const mute = { ...node('n'), status: {} };
    assert.deepEqual(texts(plain(), [mute]), [
      'node(s) had untolerated taint {node.kubernetes.io/not-ready: }',
    ]);
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
    assert.equal(chosen('LeastPod', undefined, bound.slice(0, 1).concat(bound.slice(2))), 'b');
    assert.equal(chosen('LeastCpu'), 'a');
    assert.equal(chosen('LeastMem'), 'c');
  });
  it('Default prefers the emptiest and avoids what is not preferred', () => {
    assert.equal(chosen('Default', undefined, bound.slice(0, 1)), 'c');
    const shunned = node('c', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] });
    const decision = decide(plain(), snapshotOf([node('a'), shunned]));
    assert.deepEqual(decision, { kind: 'node', node: 'a' });
  });
  it('Random reaches every node', () => {
    const random = new SeededRandom(5);
    const seen = new Set<string>();
    for (let draw = 0; draw < 50; draw++) {
      const decision = scheduleOne(plain(), snapshotOf(nodes).nodes, { policy: 'Random', random });
      if (decision.kind === 'node') seen.add(decision.node);
    }
    assert.deepEqual([...seen].sort(), ['a', 'b', 'c']);
  });
});

describe('never overcommits, and gives back what it took', () => {
  for (const policy of policies)
    it(policy, () => {
      for (let seed = 1; seed <= 15; seed++) fill(policy, new SeededRandom(seed));
    });

  function fill(policy: Policy, random: SeededRandom): void {
    const nodes = Array.from({ length: 4 }, (_, index) =>
      node(`n${index}`, {
        allocatable: { cpu: `${1 + random.below(4)}`, memory: '2Gi', pods: `${3 + random.below(5)}` },
      }),
    );
    const snapshot = snapshotOf(nodes);
    const placed = new Map<string, { pod: Pod; node: string }>();
    let lastNode: string | undefined;
    for (let round = 0; round < 120; round++) {
      const one = wanting(`p${round}`, { cpu: `${random.below(1500)}m`, memory: `${random.below(900)}Mi` });
      const decision = scheduleOne(one, snapshot.nodes, { policy, random, lastNode });
      if (decision.kind === 'node') {
        lastNode = decision.node;
        snapshot.assume(one, decision.node);
        if (random.below(2)) snapshot.setPod({ ...one, spec: { ...one.spec, nodeName: decision.node } });
        placed.set(one.metadata.uid, { pod: one, node: decision.node });
      }
      const [oldest] = placed.keys();
      if (oldest && random.below(3) === 0) {
        snapshot.removePod(oldest);
        placed.delete(oldest);
      }
      for (const info of snapshot.nodes) {
        const here = [...placed.values()].filter((entry) => entry.node === info.node.metadata.name);
        const cpu = here.reduce((sum, { pod: p }) => sum + milli(p), 0);
        assert.equal(info.requested.get('cpu') ?? 0, cpu);
        assert.ok(cpu <= (info.allocatable.get('cpu') ?? 0), 'more cpu requested than there is');
        assert.ok(here.length <= (info.allocatable.get('pods') ?? 0), 'more pods than the node may have');
        assert.equal(info.podCount, here.length);
      }
    }
  }

  const milli = (one: Pod) => Number.parseInt(one.spec.containers[0]?.resources?.requests?.cpu ?? '0', 10);
});

describe('Snapshot', () => {
  it('keeps an assumption while the server does not know of it yet', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod(one);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 1000);
    snapshot.forget(one.metadata.uid);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 0);
  });
  it('frees what a pod was to have that ended before it was bound', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod({ ...one, status: { ...one.status, phase: 'Failed' } });
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 0);
    assert.equal(snapshot.isPlaced(one.metadata.uid), false);
  });
  it('forgets no pod that the server has shown on its node', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod({ ...one, spec: { ...one.spec, nodeName: 'n' } });
    snapshot.forget(one.metadata.uid);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 1000);
    assert.equal(snapshot.isPlaced(one.metadata.uid), true);
  });
  it('frees the ports of a pod that goes, and no other', () => {
    const withPorts = (name: string, ...hostPorts: number[]) => {
      const ports = hostPorts.map((hostPort) => ({ containerPort: 80, protocol: 'TCP' as const, hostPort }));
      return pod(name, { spec: { nodeName: 'n', containers: [container({ ports })] } });
    };
    const [first, second] = [withPorts('first', 80, 443), withPorts('second', 8080)];
    const snapshot = snapshotOf([node('n')], [first, second]);
    const taken = () => snapshot.nodes[0]?.hostPorts.map(({ port }) => port);
    snapshot.removePod(first.metadata.uid);
    assert.deepEqual(taken(), [8080]);
    snapshot.setPod({ ...second, status: { ...second.status, phase: 'Succeeded' } });
    assert.deepEqual(taken(), []);
  });
  it('counts pods of a node that is known only later, and again when it returns', () => {
    const snapshot = snapshotOf([], [pod('b', { spec: { nodeName: 'n' } })]);
    snapshot.setNode(node('n'));
    assert.equal(snapshot.nodes[0]?.podCount, 1);
    snapshot.removeNode('n');
    snapshot.setNode(node('n'));
    assert.equal(snapshot.nodes[0]?.podCount, 1);
  });
});

describe('explain', () => {
  const reasons = (one: Pod, nodes: readonly Node[]) => {
    const decision = decide(one, snapshotOf(nodes));
    assert.equal(decision.kind, 'unschedulable');
    return decision.kind === 'unschedulable' ? decision.nodes : [];
  };
  const tainted = (name: string) => node(name, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
  const big = wanting('p', { cpu: '2500m', memory: '5Gi' });
  it('counts reasons as upstream words them and names the nearest fit', () => {
    assert.equal(
      explain(
        reasons(big, [node('a', { allocatable: { cpu: '2', memory: '8Gi' } }), tainted('b'), tainted('c')]),
      ),
      '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {k: v}.' +
        ' Nearest fit: a lacks 500m cpu (requested 2500m, free 2).',
    );
  });
  it('says so when there are no nodes', () => {
    assert.equal(explain(reasons(plain(), [])), 'no nodes available to schedule pods');
  });
  it('reports every reason of each node as data, the nearest first', () => {
    assert.deepEqual(JSON.parse(report(reasons(big, [tainted('a'), node('b')]))), {
      total: 2,
      nodes: [
        {
          node: 'b',
          reasons: [
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient cpu',
              resource: 'cpu',
              requested: '2500m',
              free: '2',
            },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient memory',
              resource: 'memory',
              requested: '5Gi',
              free: '4Gi',
            },
          ],
        },
        {
          node: 'a',
          reasons: [
            { plugin: 'TaintToleration', reason: 'node(s) had untolerated taint {k: v}' },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient cpu',
              resource: 'cpu',
              requested: '2500m',
              free: '2',
            },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient memory',
              resource: 'memory',
              requested: '5Gi',
              free: '4Gi',
            },
          ],
        },
      ],
    });
  });
});
