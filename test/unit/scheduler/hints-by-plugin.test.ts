/** Changes after which a pod that a plugin rejected is retried; if one is missed, the pod waits forever. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim, PodAffinityTerm } from '../../../src/api/core/v1/types.gen.ts';
import type { ClusterEvent } from '../../../src/scheduler/cluster-events.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { policyAnnotation } from '../../../src/scheduler/policies.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { at, container, meta, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { plain, wanting } from './pods.ts';

type Spec = Partial<Pod['spec']>;
/** Change of the cluster; `forget` drops the events that were recorded so far. */
type Happening = (snapshot: Snapshot, forget: () => void) => void;

const claim = (name: string, bound: boolean) =>
  ({
    metadata: meta(name),
    spec: { resources: {} },
    status: bound ? { phase: 'Bound' } : {},
  }) as PersistentVolumeClaim;
const late = {
  metadata: meta('late'),
  spec: { resources: {}, storageClassName: 'late' },
} as PersistentVolumeClaim;

/** A node with a pod of the app `db` on it, and a node with one of `web`. */
function world(tell: (event: ClusterEvent) => void): Snapshot {
  const claims: Record<string, PersistentVolumeClaim> = { unbound: claim('unbound', false), late };
  const snapshot = new Snapshot(
    {
      namespaceLabels: () => undefined,
      siblingsOf: () => undefined,
      volumes: {
        claim: (_namespace, name) => claims[name],
        volumesFor: () => [],
        volume: () => undefined,
        storageClass: () =>
          ({
            provisioner: 'kubernetes.io/no-provisioner',
            volumeBindingMode: 'WaitForFirstConsumer',
          }) as never,
      },
    },
    tell,
  );
  snapshot.setNode(machine());
  for (const one of [db, web]) snapshot.setPod(one);
  return snapshot;
}

const machine = (over: NodeOptions = {}, name = 'n') =>
  node(name, { allocatable: { cpu: '2', memory: '1Gi', pods: '9' }, labels: { host: name }, ...over });
const on = (app: string, spec: Spec = {}, namespace = 'default'): Pod =>
  pod(app, {
    metadata: { labels: { app }, namespace },
    spec: { nodeName: 'n', containers: [container({ resources: { requests: { cpu: '1' } } })], ...spec },
  });
const db = on('db');
const web = on('web');

const heartbeat: Happening = (snapshot) => {
  const now = machine();
  snapshot.setNode({ ...now, status: { ...now.status, images: [{ names: ['i:1'], sizeBytes: 1 }] } });
};
const added =
  (over: NodeOptions = {}): Happening =>
  (snapshot) =>
    snapshot.setNode(machine(over, 'm'));
const changed =
  (over: NodeOptions): Happening =>
  (snapshot) =>
    snapshot.setNode(machine(over));
const labels = changed({ labels: { host: 'n', disk: 'ssd' } });
const cordoned = changed({ unschedulable: true });
const tainted = changed({ taints: [{ key: 'k', effect: 'NoSchedule' }] });
const unready = changed({ ready: 'False' });
const room = changed({ allocatable: { cpu: '9', memory: '1Gi', pods: '9' } });
/** Removes a pod; the event of its creation, if it is new, is dropped. */
const leaves =
  (one: Pod): Happening =>
  (snapshot, forget) => {
    snapshot.setPod(one);
    forget();
    snapshot.removePod(one.metadata.uid);
  };
const comes =
  (one: Pod): Happening =>
  (snapshot) =>
    snapshot.setPod(one);
const asked = comes({ ...db, metadata: { ...db.metadata, deletionTimestamp: at(0) } });
const relabelled = (one: Pod, app: string) =>
  comes({ ...one, metadata: { ...one.metadata, labels: { app } } });
const shrinks = comes({ ...db, spec: { ...db.spec, containers: [container()] } });
const nodeGoes: Happening = (snapshot) => snapshot.removeNode('n');
const namespace: Happening = (snapshot) => snapshot.namespaceChanged('default');
const storage: Happening = (snapshot) => snapshot.storageChanged();
const nominationEnds: Happening = (snapshot, forget) => {
  const other = podInfo(wanting('other', { cpu: '1' }));
  snapshot.nominate(other, 'n');
  forget();
  snapshot.endNomination(other.pod.metadata.uid);
};

const ports = (hostPort: number) => [
  container({ ports: [{ containerPort: 1, hostPort, protocol: 'TCP' }], resources: { requests: {} } }),
];
const required = (...terms: PodAffinityTerm[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const term = (app: string, topologyKey = 'host') => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
});
const near = (...terms: PodAffinityTerm[]) => plain({ affinity: { podAffinity: required(...terms) } });
const away = (...terms: PodAffinityTerm[]) => plain({ affinity: { podAntiAffinity: required(...terms) } });
const spread = (...apps: string[]) =>
  plain({
    topologySpreadConstraints: apps.map((app) => ({
      maxSkew: 1,
      topologyKey: 'host',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app } },
    })),
  });
const claiming = (...names: string[]) =>
  plain({ volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) });

type Case = readonly [what: string, waiting: Pod, happens: Happening, helped: boolean];

const table: Readonly<Record<string, readonly Case[]>> = {
  SchedulingPolicy: [
    [
      'another node is added',
      { ...plain(), metadata: { ...meta('p'), annotations: { [policyAnnotation]: 'x' } } },
      added(),
      false,
    ],
  ],
  NodeUnschedulable: [
    ['another node is added', plain(), added(), true],
    ['another cordoned node is added', plain(), added({ unschedulable: true }), false],
    ['a node is cordoned', plain(), cordoned, false],
    ['a label is added to a node', plain(), labels, false],
  ],
  NodeName: [
    ['the node that it names is added', plain({ nodeName: 'm' }), added(), true],
    ['another node is added', plain({ nodeName: 'o' }), added(), false],
    ['the node that it names changes', plain({ nodeName: 'n' }), labels, false],
  ],
  TaintToleration: [
    ['another node is added', plain(), added(), true],
    [
      'another tainted node is added',
      plain(),
      added({ taints: [{ key: 'k', effect: 'NoSchedule' }] }),
      false,
    ],
    ['a node is tainted', plain(), tainted, false],
    [
      'a node gets a taint that it tolerates',
      plain({ tolerations: [{ operator: 'Exists' }] }),
      tainted,
      true,
    ],
    [
      'a node is no longer ready, which it tolerates',
      plain({ tolerations: [{ operator: 'Exists' }] }),
      unready,
      true,
    ],
    ['a node gets more resources', plain(), room, false],
  ],
  NodeAffinity: [
    ['a label that it selects is added', plain({ nodeSelector: { disk: 'ssd' } }), labels, true],
    ['another label is added', plain({ nodeSelector: { disk: 'hdd' } }), labels, false],
    ['a label is added, and it has no selector any more', plain(), labels, true],
    ['a node is tainted', plain({ nodeSelector: { host: 'n' } }), tainted, false],
  ],
  NodePorts: [
    [
      'the pod with its host port is deleted',
      plain({ containers: ports(80) }),
      leaves(on('x', { containers: ports(80) })),
      true,
    ],
    [
      'a pod with another host port is deleted',
      plain({ containers: ports(80) }),
      leaves(on('x', { containers: ports(81) })),
      false,
    ],
    ['another node is added', plain({ containers: ports(80) }), added(), true],
    ['a node changes', plain({ containers: ports(80) }), labels, false],
    ['a pod is no longer nominated for the node', plain({ containers: ports(80) }), nominationEnds, true],
  ],
  NodeResourcesFit: [
    ['a pod is deleted and leaves enough room', wanting('p', { cpu: '1' }), leaves(db), true],
    ['a pod is deleted and leaves too little room', wanting('p', { cpu: '1100m' }), leaves(db), false],
    ['a pod reduces its requests', wanting('p', { cpu: '1' }), shrinks, true],
    ['a pod is no longer nominated for the node', wanting('p', {}), nominationEnds, true],
    ['a node gets more resources', wanting('p', { cpu: '7' }), room, true],
    ['a node gets more resources, but too few', wanting('p', { cpu: '8' }), room, false],
    ['another node is added', wanting('p', { cpu: '2' }), added(), true],
    ['a label is added to a node with room', wanting('p', {}), labels, false],
    ['a pod of a deleted node is deleted', wanting('p', {}), leaves(on('x', { nodeName: 'gone' })), false],
  ],
  VolumeRestrictions: [
    ['the pod with its claim is deleted', claiming('c'), leaves(named('x', claiming('b', 'c'))), true],
    ['a pod with another claim is deleted', claiming('c'), leaves(named('x', claiming('b'))), false],
    [
      'a pod with that claim in another namespace is deleted',
      claiming('c'),
      leaves(named('x', claiming('c'), 'other')),
      false,
    ],
    ['a pod with its claim is created', claiming('c'), comes(named('y', claiming('c'))), false],
  ],
  VolumeBinding: [
    ['a claim, a volume or a class changes', claiming('unbound'), storage, true],
    ['a label is added, and one of its claims is not bound yet', claiming('late', 'unbound'), labels, false],
    [
      'a label is added, and its claim is bound only after the pod has a node',
      claiming('late'),
      labels,
      true,
    ],
    ['a node is tainted', claiming('late'), tainted, false],
    ['another node is added', claiming('late'), added(), true],
  ],
  PodTopologySpread: [
    ['another node is added', spread('db'), added(), true],
    ['a node is removed', spread('db'), nodeGoes, true],
    ['a label is added to a node', spread('db'), labels, true],
    ['a node is tainted', spread('db'), tainted, true],
    ['a node is no longer ready', spread('db'), unready, true],
    ['a node is cordoned', spread('db'), cordoned, false],
    ['a node sends a heartbeat', spread('db'), heartbeat, false],
    ['a pod that counts is created', spread('x', 'new'), comes(on('new')), true],
    ['a pod that does not count is created', spread('x'), comes(on('new')), false],
    ['a pod that counts is deleted', spread('db'), leaves(db), true],
    ['a pod that does not count is deleted', spread('db'), leaves(web), false],
    ['a pod that counts begins to terminate', spread('db'), asked, true],
    ['a pod gets labels with which it no longer counts', spread('db'), relabelled(db, 'x'), true],
    ['a pod that does not count gets other labels', spread('x'), relabelled(db, 'y'), false],
    ['a pod is deleted that counts only for a preference', preferring(spread('db')), leaves(db), false],
    ['a namespace changes', spread('db'), namespace, false],
  ],
  InterPodAffinity: [
    ['another node is added', away(term('db')), added(), true],
    ['a label is added to a node', away(term('db')), labels, true],
    ['a node is tainted', away(term('db')), tainted, false],
    ['a namespace changes', away(term('db')), namespace, true],
    ['a claim, a volume or a class changes', away(term('db')), storage, false],
    ['a pod that its affinity selects is created', near(term('new')), comes(on('new')), true],
    ['a pod that its affinity does not select is created', near(term('x')), comes(on('new')), false],
    ['a pod that one of two terms selects is created', near(term('new'), term('x')), comes(on('new')), false],
    ['a pod that its anti-affinity selects is created', away(term('new')), comes(on('new')), false],
    ['a pod is created, and it has only anti-affinity', away(term('db')), comes(on('new')), false],
    ['a pod that its anti-affinity selects is deleted', away(term('db')), leaves(db), true],
    ['a pod that its anti-affinity does not select is deleted', away(term('db')), leaves(web), false],
    ['a pod whose anti-affinity selects it is deleted', plain(), leaves(on('x', avoiding('web'))), true],
    ['a pod whose anti-affinity selects others is deleted', plain(), leaves(on('x', avoiding('db'))), false],
    ['the last pod that its affinity selects is deleted', near(term('db')), leaves(db), true],
    ['a pod that its affinity does not select is deleted', near(term('db')), leaves(web), false],
    ['its affinity now selects an existing pod', near(term('new')), relabelled(web, 'new'), true],
    ['its affinity no longer selects an existing pod', near(term('db')), relabelled(db, 'new'), true],
    ['its anti-affinity no longer selects an existing pod', away(term('db')), relabelled(db, 'new'), true],
    ['a pod that its anti-affinity selects begins to terminate', away(term('db')), asked, false],
    ['its anti-affinity now selects an existing pod', away(term('new')), relabelled(db, 'new'), false],
    [
      'a pod that its anti-affinity does not select gets other labels',
      away(term('x')),
      relabelled(db, 'new'),
      false,
    ],
  ],
};

function named(name: string, { spec }: Pod, namespace = 'default'): Pod {
  return pod(name, { metadata: { namespace }, spec: { ...spec, nodeName: 'n' } });
}

function preferring(one: Pod): Pod {
  const constraints = one.spec.topologySpreadConstraints?.map((constraint) => ({
    ...constraint,
    whenUnsatisfiable: 'ScheduleAnyway' as const,
  }));
  return { ...one, spec: { ...one.spec, topologySpreadConstraints: constraints } };
}

function avoiding(app: string): Spec {
  return { affinity: { podAntiAffinity: required(term(app)) } };
}

for (const [name, cases] of Object.entries(table))
  describe(`a pod that ${name} rejected`, () => {
    for (const [what, waiting, happens, helped] of cases)
      it(`is ${helped ? 'retried' : 'not retried'} if ${what}`, () => {
        const events: ClusterEvent[] = [];
        const snapshot = world((event) => events.push(event));
        const forget = () => events.splice(0);
        forget();
        happens(snapshot, forget);
        const plugin = plugins().find((one) => one.name === name);
        assert.ok(plugin?.helps);
        // A plugin without `helps` counts as helped by every event.
        const answers = events.map((event) => plugin.helps?.(event, podInfo(waiting), snapshot) ?? true);
        assert.equal(answers.includes(true), helped);
      });
  });
