import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../../../src/api/core/v1/node/upgrade.ts';
import { describeNodesPlan } from '../../../../src/roles/upgrade/nodes.ts';
import {
  failureText,
  isCordoned,
  type NodeFacts,
  type NodesRequest,
  planNodes,
  progressOf,
} from '../../../../src/roles/upgrade/nodes-plan.ts';

interface Shape {
  readonly version?: string;
  readonly ready?: string;
  readonly architecture?: string;
  readonly address?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const node = (name: string, shape: Shape = {}): NodeFacts => ({
  metadata: { name, annotations: shape.annotations ?? { [upgradableAnnotation]: 'true' } },
  status: {
    nodeInfo: {
      kubeletVersion: `v1.32.0-minik8s.${shape.version ?? '1.0.0'}`,
      architecture: shape.architecture ?? 'amd64',
    },
    conditions: [{ type: 'Ready', status: shape.ready ?? 'True' }],
    addresses: [{ type: 'InternalIP', address: shape.address ?? `10.0.0.${name.length}` }],
  },
});

const request: NodesRequest = {
  version: '1.1.0',
  architecture: 'amd64',
  masters: ['10.1.0.1', '10.1.0.2', '10.1.0.3'],
};

test('nodes on masters come first, then other nodes by name', () => {
  const plan = planNodes([node('c'), node('b'), node('z', { address: '10.1.0.2' })], request);
  assert.deepEqual(plan.upgrades, ['z', 'b', 'c']);
});

test('a node with the version is skipped, but not a node whose version only begins with it', () => {
  const plan = planNodes([node('a', { version: '1.1.0' }), node('b', { version: '1.1.0+gabc' })], request);
  assert.deepEqual([plan.current, plan.upgrades], [['a'], ['b']]);
});

test('nodes that cannot upgrade themselves are named, with the remedy', () => {
  const plan = planNodes(
    [
      node('a', { annotations: {} }),
      node('b', { architecture: 'arm64' }),
      node('c', { ready: 'Unknown' }),
      node('d'),
    ],
    request,
  );
  assert.deepEqual(plan.upgrades, ['d']);
  assert.deepEqual(plan.byHand, [
    {
      name: 'a',
      why: 'runs no installed service that can upgrade itself: run minik8s upgrade --file FILE there, or replace its file by hand',
    },
    {
      name: 'b',
      why: 'has the architecture arm64: run minik8s upgrade --file FILE there, with a file for it',
    },
    { name: 'c', why: 'is not Ready: start it, or delete its Node' },
  ]);
});

test('the plan is described by a line for each node', () => {
  const plan = planNodes([node('a'), node('b', { version: '1.1.0' })], request);
  assert.deepEqual(describeNodesPlan(plan), ['node b: has this version', 'node a: upgrade']);
});

const order: UpgradeOrder = { id: '7', version: '1.1.0', sha256: 'a'.repeat(64), timeoutSeconds: 60 };
const ordered = (more: Readonly<Record<string, string>> = {}) => ({
  [upgradeAnnotation]: JSON.stringify(order),
  ...more,
});

test('an order is done when the node is Ready with the version', () => {
  const at = (shape: Shape) => progressOf(node('a', { annotations: ordered(), ...shape }), order);
  assert.equal(at({}), 'waiting');
  assert.equal(at({ version: '1.1.0', ready: 'False' }), 'waiting');
  assert.equal(at({ version: '1.1.0' }), 'done');
  assert.equal(progressOf(undefined, order), 'waiting');
});

test('an order ends with the failure that the node reports, and not with that of an earlier order', () => {
  const at = (id: string) => {
    const result = JSON.stringify({ id, error: 'no disk' });
    return progressOf(node('a', { annotations: ordered({ [upgradeResultAnnotation]: result }) }), order);
  };
  assert.deepEqual(at('7'), { error: 'no disk' });
  assert.equal(at('6'), 'waiting');
});

test('an order that was replaced by another one fails', () => {
  const other = { [upgradeAnnotation]: JSON.stringify({ ...order, id: '8' }) };
  assert.deepEqual(progressOf(node('a', { annotations: other }), order), {
    error: 'another order has replaced this one',
  });
});

test('the failure of a node names the steps that succeeded, and how to continue or go back', () => {
  assert.equal(
    failureText({ name: 'b', error: 'no disk', isCordoned: true }, ['a'], ['c', 'd']),
    'node b was not upgraded: no disk; upgraded: a; not yet: c, d; b is still cordoned (minik8s ctl uncordon b); ' +
      'to go on: minik8s upgrade --nodes; to go back: minik8s upgrade --back, here and on each upgraded node',
  );
  assert.ok(!failureText({ name: 'b', error: 'no disk', isCordoned: false }, [], []).includes('cordoned'));
});

test('a cordoned node is recognised', () => {
  assert.equal(isCordoned({ ...node('a'), spec: { unschedulable: true } }), true);
  assert.equal(isCordoned(node('a')), false);
});
