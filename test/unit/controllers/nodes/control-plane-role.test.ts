import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { controlPlaneRole } from '../../../../src/controllers/nodes/control-plane-role.ts';
import { node } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const label = 'node-role.kubernetes.io/control-plane';
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(controlPlaneRole('own'));
});
const stored = (name: string) => world.stored(nodeResource, name);

test('the node of the control plane gets the role, without a taint, and keeps its other labels', async () => {
  const own = node('own');
  world.put(nodeResource, { ...own, metadata: { ...own.metadata, labels: { zone: 'a' } } });
  await world.reconcile('own');
  assert.deepEqual(stored('own')?.metadata.labels, { zone: 'a', [label]: '' });
  assert.equal(stored('own')?.spec.taints, undefined);
});

test('a node that has the role with any value of the label is not written again', async () => {
  const own = node('own');
  world.put(nodeResource, { ...own, metadata: { ...own.metadata, labels: { [label]: 'true' } } });
  const { length } = world.asked;
  await world.reconcile('own');
  assert.equal(world.asked.length, length);
});

test('a deleted node causes no request', async () => {
  await world.reconcile('own');
  assert.equal(stored('own'), undefined);
});

test('changes of other nodes cause no reconciliation', () => {
  const [watch] = world.controller.watches;
  assert.deepEqual(watch?.keys(node('other') as never), []);
  assert.deepEqual(watch?.keys(node('own') as never), ['own']);
});
