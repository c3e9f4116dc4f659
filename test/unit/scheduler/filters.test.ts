import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import { setPodDefaults } from '../../../src/api/core/v1/pod/defaults.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { NodeSelectorTerm, Toleration } from '../../../src/api/core/v1/types.gen.ts';
import { container, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { decideWith, plain, snapshotOf, wanting } from './pods.ts';

const texts = (one: Pod, nodes: readonly Node[], bound: readonly Pod[] = []) => {
  const decision = decideWith(one, snapshotOf(nodes, bound));
  return decision.kind === 'node'
    ? []
    : decision.nodes.flatMap(({ rejections }) => rejections.map(({ text }) => text));
};

function defaulted(pod: Pod): Pod {
  setPodDefaults(pod);
  return pod;
}

describe('filters', () => {
  const dedicated = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' as const };
  const tolerating = (toleration: Toleration) => plain({ tolerations: [toleration] });
  const untolerated = 'node(s) had untolerated taint {dedicated: gpu}';
  const port = (hostPort: number, over = {}) =>
    plain({
      containers: [container({ ports: [{ containerPort: 80, protocol: 'TCP', hostPort, ...over }] })],
    });
  const inside = plain({ containers: [container({ ports: [{ containerPort: 80, protocol: 'TCP' }] })] });
  const boundTo = ({ spec }: Pod) => pod('b', { spec: { ...spec, nodeName: 'n' } });
  const boundPort = (hostPort: number, over = {}) => boundTo(port(hostPort, over));
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
    ['another node', plain({ nodeName: 'x' }), {}, [], ["node(s) didn't match the requested node name"]],
    ['a cordoned node', plain(), { unschedulable: true }, [], ['node(s) were unschedulable']],
    [
      'a cordoned node, tolerated',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
      { unschedulable: true },
      [],
      [],
    ],
    [
      'a cordoned node, tolerated in another way',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoExecute' }),
      { unschedulable: true },
      [],
      ['node(s) were unschedulable'],
    ],
    [
      'a cordoned node, tolerated by effect',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }),
      { unschedulable: true },
      [],
      [],
    ],
    [
      'a node that is not ready, tolerated by effect',
      tolerating({ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }),
      { ready: 'False' },
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
      'limits count as requests when those are missing, as the API has filled them in',
      defaulted(plain({ containers: [container({ resources: { limits: { cpu: '3' } } })] })),
      {},
      [],
      ['Insufficient cpu'],
    ],
    [
      'what the runtime needs counts too',
      plain({
        containers: [container({ resources: { requests: { cpu: '1' } } })],
        overhead: { cpu: '1100m' },
      }),
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
    ['a container port is not one of the node', inside, {}, [boundPort(80)], []],
    ['container ports are not those of one another', inside, {}, [boundTo(inside)], []],
    [
      'a label that a node without any has not',
      affine([{ matchExpressions: [disk('DoesNotExist')] }]),
      {},
      [],
      [],
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
