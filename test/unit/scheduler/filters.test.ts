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
    [
      'a node other than the requested one',
      plain({ nodeName: 'x' }),
      {},
      [],
      ["node(s) didn't match the requested node name"],
    ],
    ['a cordoned node', plain(), { unschedulable: true }, [], ['node(s) were unschedulable']],
    [
      'a cordoned node that the pod tolerates',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
      { unschedulable: true },
      [],
      [],
    ],
    [
      'a cordoned node that the pod tolerates for another effect',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoExecute' }),
      { unschedulable: true },
      [],
      ['node(s) were unschedulable'],
    ],
    [
      'a cordoned node that the pod tolerates for NoSchedule',
      tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }),
      { unschedulable: true },
      [],
      [],
    ],
    [
      'a node that is not ready, which the pod tolerates for NoSchedule',
      tolerating({ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }),
      { ready: 'False' },
      [],
      [],
    ],
    ['a tainted node', plain(), { taints: [dedicated] }, [], [untolerated]],
    [
      'a tainted node whose key and value the pod tolerates',
      tolerating({ key: 'dedicated', value: 'gpu' }),
      { taints: [dedicated] },
      [],
      [],
    ],
    [
      'a tainted node whose key the pod tolerates with another value',
      tolerating({ key: 'dedicated', value: 'x' }),
      { taints: [dedicated] },
      [],
      [untolerated],
    ],
    [
      'a tainted node for a pod that tolerates all taints',
      tolerating({ operator: 'Exists' }),
      { taints: [dedicated] },
      [],
      [],
    ],
    [
      'a tainted node whose key the pod tolerates for another effect',
      tolerating({ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }),
      { taints: [dedicated] },
      [],
      [untolerated],
    ],
    [
      'a node with a NoExecute taint',
      plain(),
      { taints: [{ ...dedicated, effect: 'NoExecute' }] },
      [],
      [untolerated],
    ],
    [
      'a node with a PreferNoSchedule taint',
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
      'a node that the affinity of the pod selects',
      affine([{ matchExpressions: [disk('In', 'hdd', 'ssd')] }]),
      ssd,
      [],
      [],
    ],
    [
      'a node that the affinity of the pod excludes',
      affine([{ matchExpressions: [disk('NotIn', 'ssd')] }]),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node that matches only a part of an affinity term',
      affine([{ matchExpressions: [disk('Exists'), disk('In', 'hdd')] }]),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node that matches one of two affinity terms',
      affine([{ matchExpressions: [disk('DoesNotExist')] }, named('n')]),
      ssd,
      [],
      [],
    ],
    ['a node without the name that the affinity requires', affine([named('x')]), ssd, [], [noMatch]],
    [
      'a node whose label is above the number of the affinity',
      affine([{ matchExpressions: [disk('Gt', '9')] }]),
      { labels: { disk: '10' } },
      [],
      [],
    ],
    ['a node for an affinity with an empty term', affine([{}]), ssd, [], [noMatch]],
    [
      'a node that matches the affinity of the pod, but not its nodeSelector',
      affine([named('n')], { nodeSelector: { disk: 'hdd' } }),
      ssd,
      [],
      [noMatch],
    ],
    [
      'a node with the label of the nodeSelector',
      plain({ nodeSelector: { disk: 'ssd' } }),
      { labels: { disk: 'ssd' } },
      [],
      [],
    ],
    [
      'a node without the label of the nodeSelector',
      plain({ nodeSelector: { disk: 'ssd' } }),
      { labels: { disk: 'hdd' } },
      [],
      ["node(s) didn't match Pod's node affinity/selector"],
    ],
    ['a node with exactly enough room', wanting('p', { cpu: '2', memory: '4Gi' }), {}, [], []],
    ['a node with too little cpu', wanting('p', { cpu: '2001m' }), {}, [], ['Insufficient cpu']],
    [
      'a node with too little cpu and memory',
      wanting('p', { cpu: '3', memory: '5Gi' }),
      {},
      [],
      ['Insufficient cpu', 'Insufficient memory'],
    ],
    [
      'a node that lacks a requested resource',
      wanting('p', { 'nvidia.com/gpu': '1' }),
      {},
      [],
      ['Insufficient nvidia.com/gpu'],
    ],
    [
      'a node with too little room beside other pods',
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
      'a node with too little cpu for the limit, which is the default of the request',
      defaulted(plain({ containers: [container({ resources: { limits: { cpu: '3' } } })] })),
      {},
      [],
      ['Insufficient cpu'],
    ],
    [
      'a node with too little cpu for the request and the overhead of the runtime',
      plain({
        containers: [container({ resources: { requests: { cpu: '1' } } })],
        overhead: { cpu: '1100m' },
      }),
      {},
      [],
      ['Insufficient cpu'],
    ],
    [
      'a node with its maximum number of pods',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { spec: { nodeName: 'n' } })],
      ['Too many pods'],
    ],
    [
      'a node with its maximum number of pods, if one of them has ended',
      plain(),
      { allocatable: { pods: '1' } },
      [pod('b', { phase: 'Failed' })],
      [],
    ],
    ['a node whose requested port is in use', port(80), {}, [boundPort(80)], [noPort]],
    [
      'a node whose requested port is in use with another protocol',
      port(80, { protocol: 'UDP' }),
      {},
      [boundPort(80)],
      [],
    ],
    [
      'a node whose requested port is in use on another address',
      port(80, { hostIP: '10.0.0.1' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [],
    ],
    [
      'a node whose requested port is in use on the same address in another notation',
      port(80, { hostIP: '::ffff:10.0.0.2' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [noPort],
    ],
    [
      'a node whose port is requested on all addresses, and in use on one of them',
      port(80, { hostIP: '::' }),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [noPort],
    ],
    [
      'a node whose port is requested without an address, and in use on one address',
      port(80),
      {},
      [boundPort(80, { hostIP: '10.0.0.2' })],
      [noPort],
    ],
    [
      'a node whose port is requested on one address, and in use on all addresses',
      port(80, { hostIP: '10.0.0.2' }),
      {},
      [boundPort(80)],
      [noPort],
    ],
    ['a node where another pod has the container port as its host port', inside, {}, [boundPort(80)], []],
    ['a node where another pod has the same container port', inside, {}, [boundTo(inside)], []],
    [
      'a node without labels if the affinity requires that a label does not exist',
      affine([{ matchExpressions: [disk('DoesNotExist')] }]),
      {},
      [],
      [],
    ],
    [
      'a node where the port of a container on the host network is in use',
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
    it(`${expected.length > 0 ? 'reject' : 'accept'} ${name}`, () =>
      assert.deepEqual(texts(one, [node('n', options)], bound), expected));

  it('reject a node without a status, as one that is not ready', () => {
    const mute = { ...node('n'), status: {} };
    assert.deepEqual(texts(plain(), [mute]), [
      'node(s) had untolerated taint {node.kubernetes.io/not-ready: }',
    ]);
  });
});
