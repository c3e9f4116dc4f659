/** The map of the nodes, and what a drain moves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { recordAt } from '../../../../src/apimachinery/fields.ts';
import { drainView } from '../../../../src/dashboard/app/pages/nodes/plan/drain-view.ts';
import { nodeMap, shareOf } from '../../../../src/dashboard/app/pages/nodes/plan/node-map.ts';
import { condition, node, object, pod } from '../../why/why-objects.ts';

const sized = (name: string, more: JsonObject = {}) =>
  node(name, {
    ...more,
    status: {
      allocatable: { cpu: '2', memory: '4Gi', pods: '110' },
      conditions: [condition('Ready', 'True'), condition('MemoryPressure', 'True')],
    },
  });
const requesting = (name: string, nodeName: string, cpu: string, more: JsonObject = {}) =>
  pod(name, {
    ...more,
    spec: {
      nodeName,
      containers: [{ name: 'main', resources: { requests: { cpu, memory: '64Mi' } } }],
      ...recordAt(more, 'spec'),
    },
  });

describe('the map of the nodes', () => {
  const source = {
    nodes: [sized('n1'), sized('n2', { spec: { unschedulable: true } })],
    pods: [
      requesting('small', 'n1', '100m'),
      requesting('large', 'n1', '500m'),
      requesting('over', 'n1', '1', { status: { phase: 'Succeeded' } }),
      requesting('busy', 'n2', '100m'),
    ],
    nodeMetrics: [
      { metadata: { name: 'n2' }, usage: { cpu: '1500m', memory: '1Gi' } },
      { metadata: { name: 'n1' }, usage: { cpu: '400m', memory: '3Gi' } },
    ],
    podMetrics: [
      {
        metadata: { namespace: 'default', name: 'small' },
        containers: [{ usage: { cpu: '700m' } }, { usage: { cpu: '50m' } }],
      },
    ],
  };

  it('has the busiest node first, by the chosen measure', () => {
    assert.deepEqual(
      nodeMap(source, 'cpu').map(({ name }) => name),
      ['n2', 'n1'],
    );
    assert.deepEqual(
      nodeMap(source, 'memory').map(({ name }) => name),
      ['n1', 'n2'],
    );
  });

  it('has the pods that run on a node, the largest users first', () => {
    const found = nodeMap(source, 'cpu').find(({ name }) => name === 'n1');
    assert.deepEqual(
      found?.pods.map(({ name, use }) => [name, use?.cpu]),
      [
        ['small', 750],
        ['large', undefined],
      ],
    );
    assert.deepEqual(found?.requests, { cpu: 600, memory: 128 * 2 ** 20 });
  });

  it('marks cordoned nodes and nodes under pressure', () => {
    const [n2, n1] = nodeMap(source, 'cpu');
    assert.deepEqual([n1?.isCordoned, n2?.isCordoned], [false, true]);
    assert.deepEqual(n1?.pressures, ['MemoryPressure']);
  });

  it('shows the requests of a node without measurements', () => {
    const [found] = nodeMap({ ...source, nodeMetrics: [], nodes: [sized('n1')] }, 'cpu');
    assert.ok(found);
    assert.equal(shareOf(found, 'cpu'), 0.3);
  });
});

describe('the view of a drain', () => {
  const owned = (kind: string) => ({ ownerReferences: [{ kind, name: 'o', uid: 'u', controller: true }] });
  const pods = [
    pod('web', { metadata: { ...owned('ReplicaSet'), labels: { app: 'web' } } }),
    pod('agent', { metadata: owned('DaemonSet') }),
    pod('alone'),
    pod('data', { metadata: owned('ReplicaSet'), spec: { volumes: [{ name: 'v', emptyDir: {} }] } }),
    pod('mirror', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
  ];
  const fates = (view: ReturnType<typeof drainView>) =>
    Object.fromEntries(view.pods.map(({ name, fate, note }) => [name, note ? `${fate}: ${note}` : fate]));

  it('names the pods that stay, and why the node cannot be drained', () => {
    const view = drainView(pods, [], { force: false, deleteEmptyDirData: false });
    assert.deepEqual(fates(view), {
      web: 'moves',
      agent: 'stays: a DaemonSet runs it on every node',
      alone: 'stays: no controller would replace it',
      data: 'stays: it has data in an emptyDir volume',
      mirror: 'stays: a file on the node defines it',
    });
    assert.equal(view.refusals.length, 2);
  });

  it('names the pods that end when the drain is forced', () => {
    const view = drainView(pods, [], { force: true, deleteEmptyDirData: true });
    assert.deepEqual(view.refusals, []);
    assert.equal(fates(view).alone, 'ends: no controller replaces it');
    assert.equal(fates(view).data, 'moves');
    assert.equal(view.evicted.length, 3);
  });

  it('names the budget that delays an eviction', () => {
    const budget = (disruptionsAllowed: number, namespace = 'default') =>
      object('PodDisruptionBudget', 'web-budget', {
        metadata: { namespace },
        spec: { selector: { matchLabels: { app: 'web' } } },
        status: { disruptionsAllowed },
      });
    const web = (budgets: JsonObject[]) =>
      fates(drainView(pods, budgets, { force: false, deleteEmptyDirData: false })).web;
    assert.equal(web([budget(0)]), 'moves: waits for the disruption budget web-budget');
    assert.equal(web([budget(1)]), 'moves');
    assert.equal(web([budget(0, 'other')]), 'moves');
  });
});
