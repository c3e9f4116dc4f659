/** Pods that are removed because no agent can end them any more, and the events about them. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Node, nodeResource, type Taint } from '../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { podGcController } from '../../../../src/controllers/garbage/pod-gc.ts';
import { at, node, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const quarantine = 40_000;
const off: Taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
const other: Taint = { key: 'other', effect: 'NoExecute' };
const on = (nodeName: string | undefined, name: string, over: Parameters<typeof pod>[1] = {}) =>
  pod(name, { ...over, spec: { nodeName } });
const leaving = { metadata: { deletionTimestamp: at(1) } };

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(podGcController);
});

describe('a node that does not exist', () => {
  it('loses its pods after the grace period, each with the phase Failed', async () => {
    world.put(podResource, on('gone', 'a'));
    world.put(podResource, on('gone', 'over', { phase: 'Succeeded' }));
    world.put(podResource, on('n1', 'b'));
    assert.deepEqual(await world.reconcile('gone'), { requeueAfter: quarantine });
    await world.clock.advance(quarantine - 1);
    assert.deepEqual(await world.reconcile('gone'), { requeueAfter: 1 });
    await world.clock.advance(1);
    assert.equal(await world.reconcile('gone'), undefined);
    assert.deepEqual(world.names(podResource), ['b']);
    const { status } = world.gone.get('a') as Pod;
    assert.equal(status?.phase, 'Failed');
    assert.equal(status.podIP, undefined);
    assert.equal(status.containerStatuses?.length, 1, 'the rest of its status stays');
    assert.deepEqual(
      status.conditions?.map(({ type }) => type),
      ['Ready', 'DisruptionTarget'],
    );
    assert.deepEqual(status.conditions[1], {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: at(40),
    });
    assert.equal(
      (world.gone.get('over') as Pod).status?.phase,
      'Succeeded',
      'keeps the status of a pod that had ended',
    );
    assert.equal(world.log.lines.length, 1);
  });

  it('loses a pod that never had a status', async () => {
    world.put(podResource, { ...on('gone', 'a'), status: undefined });
    await world.reconcile('gone');
    await world.clock.advance(quarantine);
    await world.reconcile('gone');
    const { status } = world.gone.get('a') as Pod;
    assert.deepEqual([status?.phase, status?.conditions?.length], ['Failed', 1]);
  });

  it('keeps its pods if the server has the Node', async () => {
    world.put(podResource, on('gone', 'a'));
    await world.reconcile('gone');
    await world.clock.advance(quarantine);
    world.store(nodeResource, node('gone'));
    assert.equal(await world.reconcile('gone'), undefined);
    assert.deepEqual(world.names(podResource), ['a']);
    world.take(nodeResource, 'gone');
    assert.deepEqual(await world.reconcile('gone'), { requeueAfter: quarantine });
  });

  it('starts its grace period again if it had no pods in the meantime', async () => {
    const first = world.put(podResource, on('gone', 'a'));
    await world.reconcile('gone');
    world.seen.remove(podResource, `default/${first.metadata.name}`);
    await world.clock.advance(quarantine);
    assert.equal(await world.reconcile('gone'), undefined);
    world.seen.put(podResource, on('gone', 'b'));
    assert.deepEqual(await world.reconcile('gone'), { requeueAfter: quarantine });
  });

  it('loses each pod that can be removed, and the others are retried', async () => {
    for (const name of ['a', 'b', 'c']) world.put(podResource, on('gone', name));
    await world.reconcile('gone');
    await world.clock.advance(quarantine);
    world.refuse = (verb, name) => (verb === 'delete' && name === 'b' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('gone'), /no/);
    assert.deepEqual(world.names(podResource), ['b']);
    assert.deepEqual(world.log.lines, []);
    world.refuse = () => undefined;
    world.sync(podResource);
    await world.reconcile('gone');
    assert.deepEqual(world.names(podResource), []);
  });

  it('keeps another pod with the name of a removed one', async () => {
    world.put(podResource, on('gone', 'a'));
    await world.reconcile('gone');
    await world.clock.advance(quarantine);
    const later = on('n1', 'a', { metadata: { uid: 'later' } });
    world.refuse = (verb) => {
      if (verb === 'delete') world.store(podResource, later);
      return undefined;
    };
    await assert.rejects(world.reconcile('gone'), /another by now/);
    assert.equal(world.stored(podResource, 'default/a'), later);
  });
});

describe('a node that exists', () => {
  const cases: [string, Node, readonly string[]][] = [
    ['not ready and out of service', node('n1', { ready: 'Unknown', taints: [other, off] }), ['stays']],
    ['ready and out of service', node('n1', { taints: [off] }), ['leaving', 'stays']],
    ['not ready, with another taint', node('n1', { ready: 'False', taints: [other] }), ['leaving', 'stays']],
    ['not ready, without a taint', node('n1', { ready: 'False' }), ['leaving', 'stays']],
  ];
  for (const [title, one, left] of cases)
    it(`keeps ${left.join(' and ')} if it is ${title}`, async () => {
      world.put(nodeResource, one);
      world.put(podResource, on('n1', 'stays'));
      world.put(podResource, on('n1', 'leaving', leaving));
      assert.equal(await world.reconcile('n1'), undefined);
      assert.deepEqual(world.names(podResource), left);
      const message = (world.gone.get('leaving') as Pod | undefined)?.status?.conditions?.at(-1)?.message;
      assert.equal(message, left.length === 1 ? 'PodGC: node is out of service' : undefined);
    });

  it('causes no request while all its pods are in order', async () => {
    world.put(nodeResource, node('n1', { ready: 'False', taints: [off] }));
    await world.reconcile('n1');
    assert.deepEqual(world.log.lines, []);
  });
});

describe('reconciled again', () => {
  it('is every changed node', () => {
    assert.deepEqual(world.keysOf(nodeResource, node('n1')), ['n1']);
  });
  it('are the node of a pod if the node does not exist, or if it is out of service and the pod is terminating', () => {
    world.seen.put(nodeResource, node('up'));
    world.seen.put(nodeResource, node('off', { ready: 'False', taints: [off] }));
    const keys = (one: Pod) => world.keysOf(podResource, one);
    assert.deepEqual(keys(on('gone', 'a')), ['gone']);
    assert.deepEqual(keys(on('off', 'a', leaving)), ['off']);
    assert.deepEqual(keys(on('off', 'a')), []);
    assert.deepEqual(keys(on('up', 'a', leaving)), []);
    assert.deepEqual(keys(on(undefined, 'a')), []);
    assert.deepEqual(keys(on('', 'a')), []);
  });
});
