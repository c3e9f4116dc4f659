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
      'a cordoned node, tolerated for another effect',
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
    [
      'a taint, with all taints tolerated',
      tolerating({ operator: 'Exists' }),
      { taints: [dedicated] },
      [],
      [],
    ],
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
      'an unreachable node',
      plain(),
      { ready: 'Unknown' },
      [],
      ['node(s) had untolerated taint {node.kubernetes.io/unreachable: }'],
    ],
    [
      'a node that its affinity selects',
      affine([{ matchExpressions: [disk('In', 'hdd', 'ssd')] }]),
      ssd,
      [],
      [],
    ],
    [
      'a node that its affinity excludes',
      affine([{ matchExpressions: [disk('NotIn', 'ssd')] }]),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node that matches only a part of a term',
      affine([{ matchExpressions: [disk('Exists'), disk('In', 'hdd')] }]),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node that matches one of two terms',
      affine([{ matchExpressions: [disk('DoesNotExist')] }, named('n')]),
      ssd,
      [],
      [],
    ],
    ['a node by name', affine([named('x')]), ssd, [], [noMatch]],
    [
      'a label above a number',
      affine([{ matchExpressions: [disk('Gt', '9')] }]),
      { labels: { disk: '10' } },
      [],
      [],
    ],
    ['an empty term', affine([{}]), ssd, [], [noMatch]],
    [
      'a node that matches its affinity, but not its nodeSelector',
      affine([named('n')], { nodeSelector: { disk: 'hdd' } }),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node with a label of its nodeSelector',
      plain({ nodeSelector: { disk: 'ssd' } }),
      { labels: { disk: 'ssd' } },
      [],
      [],
    ],
    [
      'a node without a label of its nodeSelector',
      plain({ nodeSelector: { disk: 'ssd' } }),
      { labels: { disk: 'hdd' } },
      [],
      ["node(s) didn't match Pod's node affinity/selector"],
    ],
    ['exactly enough room', wanting('p', { cpu: '2', memory: '4Gi' }), {}, [], []],
    ['too little cpu', wanting('p', { cpu: '2001m' }), {}, [], ['Insufficient cpu']],
    [
      'too little cpu and memory',
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
      'too little room beside other pods',
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
      'the overhead of the runtime counts too',
      plain({
        containers: [container({ resources: { requests: { cpu: '1' } } })],
        overhead: { cpu: '1100m' },
      }),
      {},
      [],
      ['Insufficient cpu'],
    ],
    [
      'the maximum number of pods',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { spec: { nodeName: 'n' } })],
      ['Too many pods'],
    ],
    [
      'ended pods use no resources',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { phase: 'Failed' })],
      [],
    ],
    ['a port in use', port(80), {}, [boundPort(80)], [noPort]],
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
      'a port of one address, in use on every address',
      port(80, { hostIP: '10.0.0.2' }),
      {},
      [boundPort(80)],
      [noPort],
    ],
    ['a container port that is in use on the node', inside, {}, [boundPort(80)], []],
    ['a container port that another pod has too', inside, {}, [boundTo(inside)], []],
    [
      'a node without labels and DoesNotExist',
      affine([{ matchExpressions: [disk('DoesNotExist')] }]),
      {},
      [],
      [],
    ],
    [
      'container ports on the host network',
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

  it('a node without a status', () => {
    const mute = { ...node('n'), status: {} };
    assert.deepEqual(texts(plain(), [mute]), [
      'node(s) had untolerated taint {node.kubernetes.io/not-ready: }',
    ]);
  });
});
