/** Events that can help a pod that a plugin rejected: a missed event leaves the pod waiting forever. */
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
/** `forget`: drops the events that were recorded so far. */
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
/** Removes a pod that exists, or that was added without an event. */
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
      'another node',
      { ...plain(), metadata: { ...meta('p'), annotations: { [policyAnnotation]: 'x' } } },
      added(),
      false,
    ],
  ],
  NodeUnschedulable: [
    ['another node', plain(), added(), true],
    ['another node, cordoned too', plain(), added({ unschedulable: true }), false],
    ['a node that is cordoned', plain(), cordoned, false],
    ['a label', plain(), labels, false],
  ],
  NodeName: [
    ['its node', plain({ nodeName: 'm' }), added(), true],
    ['another node', plain({ nodeName: 'o' }), added(), false],
    ['a change of its node', plain({ nodeName: 'n' }), labels, false],
  ],
  TaintToleration: [
    ['another node', plain(), added(), true],
    ['another node, tainted too', plain(), added({ taints: [{ key: 'k', effect: 'NoSchedule' }] }), false],
    ['a node that is tainted', plain(), tainted, false],
    ['one that is tolerated', plain({ tolerations: [{ operator: 'Exists' }] }), tainted, true],
    ['a node that is not ready', plain({ tolerations: [{ operator: 'Exists' }] }), unready, true],
    ['more room', plain(), room, false],
  ],
  NodeAffinity: [
    ['a label that it selects', plain({ nodeSelector: { disk: 'ssd' } }), labels, true],
    ['a label that it does not', plain({ nodeSelector: { disk: 'hdd' } }), labels, false],
    ['any label, where it takes any node now', plain(), labels, true],
    ['a taint', plain({ nodeSelector: { host: 'n' } }), tainted, false],
  ],
  NodePorts: [
    [
      'the pod with its port goes',
      plain({ containers: ports(80) }),
      leaves(on('x', { containers: ports(80) })),
      true,
    ],
    [
      'one with another port goes',
      plain({ containers: ports(80) }),
      leaves(on('x', { containers: ports(81) })),
      false,
    ],
    ['another node', plain({ containers: ports(80) }), added(), true],
    ['a change of a node', plain({ containers: ports(80) }), labels, false],
    ['a pod that waited there waits no more', plain({ containers: ports(80) }), nominationEnds, true],
  ],
  NodeResourcesFit: [
    ['a pod goes and leaves enough', wanting('p', { cpu: '1' }), leaves(db), true],
    ['a pod goes and leaves too little', wanting('p', { cpu: '1100m' }), leaves(db), false],
    ['a pod asks for less', wanting('p', { cpu: '1' }), shrinks, true],
    ['a pod that waited there waits no more', wanting('p', {}), nominationEnds, true],
    ['more room', wanting('p', { cpu: '7' }), room, true],
    ['more room, and too little still', wanting('p', { cpu: '8' }), room, false],
    ['another node', wanting('p', { cpu: '2' }), added(), true],
    ['a label where there is room', wanting('p', {}), labels, false],
    ['the pod of a node that is gone goes', wanting('p', {}), leaves(on('x', { nodeName: 'gone' })), false],
  ],
  VolumeRestrictions: [
    ['the pod with its claim goes', claiming('c'), leaves(named('x', claiming('b', 'c'))), true],
    ['one with another claim goes', claiming('c'), leaves(named('x', claiming('b'))), false],
    [
      'one with that claim of another namespace goes',
      claiming('c'),
      leaves(named('x', claiming('c'), 'other')),
      false,
    ],
    ['one with its claim comes', claiming('c'), comes(named('y', claiming('c'))), false],
  ],
  VolumeBinding: [
    ['a claim, a volume or a class', claiming('unbound'), storage, true],
    ['a label, where no node will do', claiming('late', 'unbound'), labels, false],
    ['a label, where a volume may be elsewhere', claiming('late'), labels, true],
    ['a taint', claiming('late'), tainted, false],
    ['another node', claiming('late'), added(), true],
  ],
  PodTopologySpread: [
    ['another node', spread('db'), added(), true],
    ['a node less', spread('db'), nodeGoes, true],
    ['a label', spread('db'), labels, true],
    ['a taint', spread('db'), tainted, true],
    ['a node that is not ready', spread('db'), unready, true],
    ['a cordon', spread('db'), cordoned, false],
    ['a heartbeat', spread('db'), heartbeat, false],
    ['a pod that counts comes', spread('x', 'new'), comes(on('new')), true],
    ['a pod that does not count comes', spread('x'), comes(on('new')), false],
    ['a pod that counts goes', spread('db'), leaves(db), true],
    ['a pod that does not count goes', spread('db'), leaves(web), false],
    ['a pod that counts is about to go', spread('db'), asked, true],
    ['a pod does not count any more', spread('db'), relabelled(db, 'x'), true],
    ['a pod counts as it did', spread('x'), relabelled(db, 'y'), false],
    ['a preference alone', preferring(spread('db')), leaves(db), false],
    ['a namespace', spread('db'), namespace, false],
  ],
  InterPodAffinity: [
    ['another node', away(term('db')), added(), true],
    ['a label', away(term('db')), labels, true],
    ['a taint', away(term('db')), tainted, false],
    ['a namespace', away(term('db')), namespace, true],
    ['a claim', away(term('db')), storage, false],
    ['one that is wanted near comes', near(term('new')), comes(on('new')), true],
    ['one that is not wanted near comes', near(term('x')), comes(on('new')), false],
    ['one that meets one of two wishes comes', near(term('new'), term('x')), comes(on('new')), false],
    ['one that it avoids comes', away(term('new')), comes(on('new')), false],
    ['any comes, where none is wanted near', away(term('db')), comes(on('new')), false],
    ['one that it avoids goes', away(term('db')), leaves(db), true],
    ['one that it does not avoid goes', away(term('db')), leaves(web), false],
    ['one that avoids it goes', plain(), leaves(on('x', avoiding('web'))), true],
    ['one that avoids others goes', plain(), leaves(on('x', avoiding('db'))), false],
    ['the last of its like goes', near(term('db')), leaves(db), true],
    ['another than its like goes', near(term('db')), leaves(web), false],
    ['one is its like now', near(term('new')), relabelled(web, 'new'), true],
    ['one is its like no more', near(term('db')), relabelled(db, 'new'), true],
    ['one that it avoids is another now', away(term('db')), relabelled(db, 'new'), true],
    ['one that it avoids is about to go', away(term('db')), asked, false],
    ['one is one that it avoids now', away(term('new')), relabelled(db, 'new'), false],
    ['one that it need not mind is another now', away(term('x')), relabelled(db, 'new'), false],
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
  describe(`changes that may help a pod that ${name} rejected`, () => {
    for (const [what, waiting, happens, helped] of cases)
      it(`${what}: ${helped ? 'yes' : 'no'}`, () => {
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
