/**
 * Reasons why a node cannot take a pod, as data: the counts in messages, and whether preemption on the node
 * would help.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core/v1/types.gen.ts';
import { policyAnnotation } from '../../../src/scheduler/policies.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { container, meta, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { decideWith, plain } from './pods.ts';

type Spec = Partial<Pod['spec']>;

const claim = {
  metadata: meta('c'),
  spec: { accessModes: ['ReadWriteOncePod'], volumeName: 'pv' },
  status: { phase: 'Bound' },
} as PersistentVolumeClaim;
const there = { metadata: meta('pv'), spec: {} } as PersistentVolume;

/** Returns the rejections of a node with one pod of the app `db`. */
function rejections(one: Pod, bound: Spec, options: NodeOptions) {
  const snapshot = new Snapshot({
    namespaceLabels: () => undefined,
    siblingsOf: () => undefined,
    volumes: {
      claim: () => claim,
      volumesFor: () => [],
      volume: () => (bound.volumes ? there : undefined),
      storageClass: () => undefined,
    },
  });
  snapshot.setNode(node('n', { labels: { host: 'n' }, ...options }));
  snapshot.setPod(pod('b', { spec: { nodeName: 'n', ...bound }, metadata: { labels: { app: 'db' } } }));
  const decision = decideWith(one, snapshot);
  assert.equal(decision.kind, 'unschedulable');
  if (decision.kind !== 'unschedulable') return [];
  return decision.refused ? [decision.refused] : decision.nodes[0]?.rejections;
}

const required = (topologyKey: string, app: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
});
const spread = (topologyKey: string): Spec => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      minDomains: 2,
    },
  ],
});
const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
const ports = [{ containerPort: 1, hostPort: 80, protocol: 'TCP' as const }];

const table: [plugin: string, text: string, final: boolean, Spec, bound?: Spec, NodeOptions?][] = [
  ['NodeUnschedulable', 'node(s) were unschedulable', true, {}, {}, { unschedulable: true }],
  ['NodeName', "node(s) didn't match the requested node name", true, { nodeName: 'other' }],
  [
    'TaintToleration',
    'node(s) had untolerated taint {k: v}',
    true,
    {},
    {},
    { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] },
  ],
  ['NodeAffinity', "node(s) didn't match Pod's node affinity/selector", true, { nodeSelector: { a: 'b' } }],
  [
    'NodePorts',
    "node(s) didn't have free ports for the requested pod ports",
    false,
    { containers: [container({ ports })] },
    { containers: [container({ ports })] },
  ],
  [
    'VolumeRestrictions',
    'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
    false,
    { volumes },
    { volumes },
  ],
  [
    'VolumeBinding',
    'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    true,
    { volumes },
  ],
  [
    'PodTopologySpread',
    "node(s) didn't match pod topology spread constraints (missing required label)",
    true,
    spread('rack'),
  ],
  [
    'InterPodAffinity',
    "node(s) didn't match pod affinity rules",
    true,
    { affinity: { podAffinity: required('host', 'cache') } },
  ],
  [
    'InterPodAffinity',
    "node(s) didn't match pod anti-affinity rules",
    false,
    { affinity: { podAntiAffinity: required('host', 'db') } },
  ],
  [
    'InterPodAffinity',
    "node(s) didn't satisfy existing pods anti-affinity rules",
    false,
    {},
    { affinity: { podAntiAffinity: required('host', 'web') } },
  ],
];

const incoming = (spec: Spec, annotations: Record<string, string> = {}): Pod => {
  const made = plain(spec);
  return { ...made, metadata: { ...made.metadata, labels: { app: 'web' }, annotations } };
};

describe('a node is refused', () => {
  for (const [plugin, text, final, spec, bound = {}, options = {}] of table)
    it(`with "${text}" ${final ? 'even if its pods are deleted' : 'as long as some pods are present'}`, () => {
      const expected = final ? { plugin, text, unresolvable: true } : { plugin, text };
      assert.deepEqual(rejections(incoming(spec), bound, options), [expected]);
    });

  it('if the spread would be uneven, as long as some pods are present', () => {
    const labels = { app: 'web' };
    const one = { ...incoming(spread('host')), metadata: { ...meta('p'), labels } };
    const snapshot = new Snapshot();
    snapshot.setNode(node('n', { labels: { host: 'n' } }));
    snapshot.setPod(pod('b', { spec: { nodeName: 'n' }, metadata: { labels } }));
    const decision = decideWith(one, snapshot);
    assert.deepEqual(decision.kind === 'unschedulable' && decision.nodes[0]?.rejections, [
      { plugin: 'PodTopologySpread', text: "node(s) didn't match pod topology spread constraints" },
    ]);
  });

  it('if the pod names an unknown policy, with a list of the existing ones', () => {
    const text = `annotation ${policyAnnotation}: "x" does not exist; use one of Default, RoundRobin, Random, LeastPod, LeastCpu, LeastMem`;
    assert.deepEqual(rejections(incoming({}, { [policyAnnotation]: 'x' }), {}, {}), [
      { plugin: 'SchedulingPolicy', text, unresolvable: true },
    ]);
  });
});
