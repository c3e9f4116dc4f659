/** Deletion of pods because of a taint of their node, the exceptions, and the events about it. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { nodeResource, type Taint } from '../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { taintEvictionController } from '../../../../src/controllers/nodes/taint-eviction.ts';
import { at, node, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const taint: Taint = { key: 'maintenance', effect: 'NoExecute' };
const mild: Taint = { key: 'maintenance', effect: 'NoSchedule' };
const tolerating = (seconds?: number, over: Parameters<typeof pod>[1] = {}) =>
  pod('web', {
    ...over,
    spec: {
      tolerations: [
        {
          key: 'maintenance',
          operator: 'Exists',
          ...(seconds !== undefined && { tolerationSeconds: seconds }),
        },
      ],
      ...over.spec,
    },
  });
const key = 'default/web';

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(taintEvictionController);
});
const put = (one: Pod, ...taints: Taint[]) => {
  world.put(nodeResource, node('n1', { taints }));
  return world.put(podResource, one);
};
const isLeaving = () => world.stored(podResource, key)?.metadata.deletionTimestamp !== undefined;

describe('a pod', () => {
  it('that does not tolerate the taint is evicted at once, with a DisruptionTarget condition', async () => {
    put(pod('web'), mild, taint);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(isLeaving(), true);
    const { status } = world.stored(podResource, key) ?? {};
    assert.equal(status?.phase, 'Running', 'the rest of its status stays');
    assert.deepEqual(status.conditions?.at(-1), {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: at(0),
    });
    assert.deepEqual(world.told, ['Normal TaintManagerEviction web: Marking for deletion Pod default/web']);
  });

  it('without a status is evicted as well', async () => {
    put({ ...pod('web'), status: undefined }, taint);
    await world.reconcile(key);
    assert.equal(isLeaving(), true);
  });

  it('is evicted when its tolerationSeconds have passed since the pod and the taint were seen', async () => {
    put(tolerating(30), taint);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 30_000 });
    await world.clock.advance(29_999);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 1 });
    assert.equal(isLeaving(), false);
    await world.clock.advance(1);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(isLeaving(), true);
  });

  const stay: [string, Pod, Taint[]][] = [
    ['that tolerates it forever', tolerating(), [taint]],
    ['on a node without taints', pod('web'), []],
    ['on a node with taints that do not evict', pod('web'), [mild]],
    ['that is not bound to a node', pod('web', { spec: { nodeName: undefined } }), [taint]],
    ['on a node that is not known', pod('web', { spec: { nodeName: 'n2' } }), [taint]],
    ['that has ended', pod('web', { phase: 'Succeeded' }), [taint]],
    ['that is being deleted', pod('web', { metadata: { deletionTimestamp: at(1) } }), [taint]],
  ];
  for (const [title, one, taints] of stay)
    it(`${title} is not evicted`, async () => {
      put(one, ...taints);
      assert.equal(await world.reconcile(key), undefined);
      assert.deepEqual([world.stored(podResource, key), world.told], [one, []]);
    });

  it('that does not exist is not evicted', async () => {
    world.put(nodeResource, node('n1', { taints: [taint] }));
    assert.equal(await world.reconcile(key), undefined);
  });

  it('stays if the taint is removed in time, and has its whole toleration time again when the taint returns', async () => {
    put(tolerating(30), taint);
    await world.reconcile(key);
    await world.clock.advance(20_000);
    world.put(nodeResource, node('n1'));
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.told, ['Normal TaintManagerEviction web: Cancelling deletion of Pod default/web']);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(world.told.length, 1, 'it is said once');
    world.put(nodeResource, node('n1', { taints: [taint] }));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 30_000 });
  });

  it('that ends or is deleted before its eviction gets no event of a cancelled eviction', async () => {
    put(tolerating(30), taint);
    await world.reconcile(key);
    world.put(podResource, tolerating(30, { phase: 'Failed' }));
    await world.reconcile(key);
    world.put(podResource, tolerating(30));
    await world.reconcile(key);
    world.seen.remove(podResource, key);
    await world.reconcile(key);
    assert.deepEqual(world.told, []);
  });

  it('tolerates the taint for its whole time if it replaced another pod of its name', async () => {
    put(tolerating(30), taint);
    await world.reconcile(key);
    await world.clock.advance(20_000);
    world.put(podResource, tolerating(30, { metadata: { uid: 'later' } }));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 30_000 });
  });

  it('that was deleted or replaced at its eviction time causes no request for another pod', async () => {
    put(pod('web'), taint);
    world.take(podResource, key);
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.told, []);
    world.put(podResource, pod('web'));
    world.refuse = (verb) => {
      if (verb === 'delete') world.store(podResource, pod('web', { metadata: { uid: 'later' } }));
      return undefined;
    };
    await assert.rejects(world.reconcile(key), /another by now/);
    assert.equal(isLeaving(), false);
  });

  it('stays, and is reconciled again, while the server shows no such taint, or no such node', async () => {
    put(pod('web'), taint);
    world.store(nodeResource, node('n1'));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 1_000 });
    world.take(nodeResource, 'n1');
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 1_000 });
    assert.equal(isLeaving(), false);
  });
});

describe('reconciled again', () => {
  it('are changed pods on a node', () => {
    assert.deepEqual(world.keysOf(podResource, pod('web')), [key]);
    assert.deepEqual(world.keysOf(podResource, pod('web', { spec: { nodeName: undefined } })), []);
  });
  it('include pods whose toleration time is running, even if they are no longer bound to a node', async () => {
    put(tolerating(30), taint);
    await world.reconcile(key);
    assert.deepEqual(world.keysOf(podResource, pod('web', { spec: { nodeName: undefined } })), [key]);
  });
  it('are the pods of a node with a taint that evicts', () => {
    world.seen.put(podResource, pod('web'));
    world.seen.put(podResource, pod('elsewhere', { spec: { nodeName: 'n2' } }));
    const keys = (...taints: Taint[]) => world.keysOf(nodeResource, node('n1', { taints }));
    assert.deepEqual([keys(taint), keys(mild), keys()], [[key], [], []]);
  });
});
