/**
 * State of the scheduler beside nodes: bound pods, pods that wait for room on a node, and pods that wait for
 * a permit.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../../../src/apimachinery/meta.ts';
import type { Permission, Plugin } from '../../../src/scheduler/framework.ts';
import { NodeState } from '../../../src/scheduler/node-state.ts';
import { Nominations } from '../../../src/scheduler/nominations.ts';
import { Permits } from '../../../src/scheduler/permits.ts';
import { PlacedPods } from '../../../src/scheduler/placed-pods.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { snapshotOf, wanting } from './pods.ts';

const nameOf = ({ pod: { metadata } }: { pod: Pod }) => metadata.name;
const [a, b] = [podInfo(wanting('a', {})), podInfo(wanting('b', {}))];

describe('nominated pods', () => {
  const on = (nominations: Nominations, name: string) => [...nominations.on(name)].map(nameOf);
  it('are kept for one node each, until they are nominated for another one or removed', () => {
    const nominations = new Nominations();
    nominations.set(a, 'n');
    nominations.set(b, 'n');
    assert.deepEqual(
      [on(nominations, 'n'), nominations.nodeOf('uid-a'), nominations.size],
      [['a', 'b'], 'n', 2],
    );
    nominations.set(a, 'm');
    assert.deepEqual([on(nominations, 'n'), on(nominations, 'm'), nominations.size], [['b'], ['a'], 2]);
    assert.equal(nominations.delete('uid-a'), 'm');
    assert.equal(nominations.delete('uid-a'), undefined);
    assert.deepEqual([on(nominations, 'm'), on(nominations, 'n'), nominations.size], [[], ['b'], 1]);
  });
  it('release a node with an event when they are nominated for another one or removed', () => {
    const told: unknown[] = [];
    const snapshot = new Snapshot(undefined, (event) =>
      told.push([event.kind, 'nodeName' in event && event.nodeName]),
    );
    snapshot.nominate(a, 'n');
    snapshot.nominate(a, 'n');
    assert.deepEqual(told, []);
    snapshot.nominate(a, 'm');
    assert.deepEqual(told, [['nominationEnded', 'n']]);
    snapshot.endNomination('uid-a');
    snapshot.endNomination('uid-a');
    assert.deepEqual(told.slice(1), [['nominationEnded', 'm']]);
  });
});

describe('pods that have a node', () => {
  const claiming = (name: string, claim: string, nodeName: string, priority = 0, namespace = 'default') => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: claim } }];
    const made = pod(name, { spec: { nodeName, volumes, priority }, metadata: { namespace } });
    return { info: podInfo(made), nodeName, assumed: false };
  };
  it('are found by node, namespace and claim', () => {
    const placed = new PlacedPods();
    const all = [
      claiming('x', 'c', 'n', 5),
      claiming('y', 'd', 'n', -7),
      claiming('z', 'c', 'm', 3, 'other'),
    ];
    for (const one of all) placed.set(one);
    for (const one of all) placed.set(one);
    const look = () => ({
      n: [...placed.on('n')].map(nameOf),
      default: [...placed.in('default')].map(nameOf),
      namespaces: [...placed.namespaces],
      lowest: placed.lowestPriority,
      used: ['c', 'd', 'e'].filter((claim) => placed.claimUsers('default', claim, 'uid-z') > 0),
    });
    assert.deepEqual(look(), {
      n: ['x', 'y'],
      default: ['x', 'y'],
      namespaces: ['default', 'other'],
      lowest: -7,
      used: ['c', 'd'],
    });
    assert.equal(placed.claimUsers('default', 'c', 'uid-x'), 0, 'the pod itself is not counted');
    placed.delete('uid-y');
    placed.delete('uid-y');
    assert.deepEqual(look(), {
      n: ['x'],
      default: ['x'],
      namespaces: ['default', 'other'],
      lowest: 3,
      used: ['c'],
    });
    placed.delete('uid-x');
    assert.deepEqual(look(), { n: [], default: [], namespaces: ['other'], lowest: 3, used: [] });
    placed.delete('uid-z');
    assert.equal(placed.lowestPriority, Number.POSITIVE_INFINITY);
  });
  it('use the claims that are generated for their ephemeral volumes', () => {
    assert.deepEqual(
      podInfo(
        pod('p', {
          spec: {
            volumes: [
              { name: 'e', ephemeral: {} },
              { name: 'x', emptyDir: {} },
            ],
          },
        }),
      ).claims,
      ['p-e'],
    );
  });
});

describe('a copy of a node for a simulation', () => {
  it('has the load of the node, and a change of the copy does not change the node', () => {
    const ports = [{ containerPort: 1, hostPort: 80, protocol: 'TCP' as const }];
    const resources = { requests: { cpu: '1' } };
    const there = pod('x', { spec: { nodeName: 'n', containers: [container({ ports, resources })] } });
    const [state] = snapshotOf([node('n')], [there]).nodes;
    assert.ok(state);
    const copy = NodeState.copyOf(state);
    assert.deepEqual(
      [copy.podCount, copy.requested.get('cpu'), copy.weighed.get('cpu'), copy.hostPorts.length],
      [1, 1000, 1000, 1],
    );
    copy.remove(podInfo(there));
    assert.deepEqual(
      [copy.podCount, copy.requested.get('cpu'), copy.weighed.get('cpu'), copy.hostPorts.length],
      [0, 0, 0, 0],
    );
    assert.deepEqual(
      [state.podCount, state.requested.get('cpu'), state.weighed.get('cpu'), state.hostPorts.length],
      [1, 1000, 1000, 1],
    );
  });
});

it('the number of nodes with an image is counted', () => {
  const having = (name: string, ...images: string[]) => {
    const made = node(name);
    return {
      ...made,
      status: { ...made.status, images: images.map((image) => ({ names: [image], sizeBytes: 1 })) },
    };
  };
  const snapshot = snapshotOf([having('a', 'x'), having('b', 'x', 'y'), having('c')]);
  const counts = () => ['x', 'y', 'z'].map((image) => snapshot.nodesWithImage(image));
  assert.deepEqual(counts(), [2, 1, 0]);
  snapshot.setNode(having('a', 'y'));
  snapshot.setNode(having('c', 'z'));
  assert.deepEqual(counts(), [1, 2, 1]);
  snapshot.removeNode('b');
  assert.deepEqual(counts(), [0, 1, 1]);
});

it('a heartbeat of a node is not an event', () => {
  const told: string[] = [];
  const snapshot = new Snapshot(undefined, ({ kind }) => told.push(kind));
  snapshot.setNode(node('n'));
  const { generation } = snapshot;
  snapshot.setNode({ ...node('n'), status: { ...node('n').status, images: [] } });
  assert.deepEqual([told, snapshot.generation], [['nodeAdded'], generation]);
  snapshot.setNode(node('n', { unschedulable: true }));
  assert.deepEqual([told, snapshot.generation > generation], [['nodeAdded', 'nodeChanged'], true]);
});

describe('a permit', () => {
  const key = 'default/p' as ObjectKey;
  const permitting = (name: string, permission: Permission): Plugin => ({ name, permit: () => permission });
  const refused = { plugin: 'No', text: 'no' };
  const late = (plugin: string) => ({
    kind: 'refused',
    refused: { plugin, text: `${plugin} did not allow it in time` },
  });
  function answers(plugins: readonly Plugin[], ...times: readonly number[]) {
    const permits = new Permits(plugins);
    permits.ask(key, wanting('p', {}), 'n', 1_000);
    return times.map((now) => permits.answer(key, snapshotOf([node('n')]), now).answer);
  }
  const allowed = { kind: 'allowed', node: 'n' };
  const table: [string, readonly Plugin[], readonly number[], readonly unknown[]][] = [
    ['is granted if no plugin has a permit function', [{ name: 'Other' }], [1_000], [allowed]],
    [
      'is granted if all plugins allow it',
      [permitting('A', 'allowed'), permitting('B', 'allowed')],
      [1_000],
      [allowed],
    ],
    [
      'is refused if one plugin refuses it',
      [permitting('A', 'allowed'), permitting('No', { refused })],
      [1_000],
      [{ kind: 'refused', refused }],
    ],
    [
      'is awaited until the timeout',
      [permitting('Slow', { waitMs: 500 })],
      [1_000, 1_499, 1_500],
      [{ kind: 'wait', ms: 500 }, { kind: 'wait', ms: 1 }, late('Slow')],
    ],
    [
      'is awaited for the shortest timeout of the plugins',
      [permitting('Slow', { waitMs: 900 }), permitting('Quick', { waitMs: 200 }), permitting('A', 'allowed')],
      [1_000, 1_200],
      [{ kind: 'wait', ms: 200 }, late('Quick')],
    ],
  ];
  for (const [what, plugins, times, expected] of table)
    it(what, () => assert.deepEqual(answers(plugins, ...times), expected));

  it('is granted for a deleted node, since the binding will fail', () => {
    const permits = new Permits([permitting('Slow', { waitMs: 500 })]);
    permits.ask(key, wanting('p', {}), 'n', 0);
    assert.deepEqual(permits.answer(key, snapshotOf([]), 0).answer, allowed);
  });

  it('cannot be read before it is requested', () => {
    const permits = new Permits([]);
    assert.throws(() => permits.answer(key, snapshotOf([]), 0), /no permit was asked for default\/p/);
    permits.ask(key, wanting('p', {}), 'n', 0);
    assert.deepEqual([permits.has(key), [...permits.keys]], [true, [key]]);
    permits.delete(key);
    assert.deepEqual([permits.has(key), [...permits.keys]], [false, []]);
  });
});
