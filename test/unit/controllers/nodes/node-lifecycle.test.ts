/** Time at which a node counts as lost, and the actions then, on a clock that only the test moves. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../src/api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { nodeLifecycle } from '../../../../src/controllers/nodes/node-lifecycle.ts';
import { at, meta, node, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const grace = 40_000;
let world: ScriptedWorld;
let beats = 0;

function lease(name: string, seconds: number | 'none' = 40): Lease {
  const duration = seconds === 'none' ? {} : { leaseDurationSeconds: seconds };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: meta(name, { namespace: 'kube-node-lease' }),
    spec: { holderIdentity: name, renewTime: `beat ${++beats}`, ...duration },
  };
}
const beat = (...names: string[]) => {
  for (const name of names) world.put(leaseResource, lease(name));
};
/** Advances the time; these nodes renew their leases meanwhile. */
async function pass(ms: number, ...heard: string[]): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    beat(...heard);
    await world.clock.advance(Math.min(left, 10_000));
  }
}
const begin = (options?: Parameters<typeof nodeLifecycle>[0]) => {
  world = new ScriptedWorld(nodeLifecycle(options));
};
const add = async (...names: string[]) => {
  for (const name of names) {
    world.put(nodeResource, node(name));
    beat(name);
    await world.reconcile(name);
  }
};
const readyOf = (name: string) =>
  world.stored(nodeResource, name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const taintsOf = (name: string) =>
  (world.stored(nodeResource, name)?.spec.taints ?? []).map(
    ({ key, effect }) => `${key.slice('node.kubernetes.io/'.length)}:${effect}`,
  );
const podReadyOf = (name: string) =>
  world.stored(podResource, `default/${name}`)?.status?.conditions?.find(({ type }) => type === 'Ready');
const on = (nodeName: string) => ({ readyAt: 1, spec: { nodeName } });
/** Events other than those about new nodes. */
const told = () => world.told.filter((text) => !text.includes(' RegisteredNode '));
const lost = ['unreachable:NoSchedule', 'unreachable:NoExecute'];

beforeEach(() => begin());

describe('a node whose heartbeats stop', () => {
  it('is lost after the grace period, and not before', async () => {
    await add('n1', 'n2', 'n3');
    await pass(grace - 1, 'n2', 'n3');
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 1 });
    assert.deepEqual([readyOf('n1'), taintsOf('n1'), told()], ['True', [], []]);
    await world.clock.advance(1);
    assert.equal(await world.reconcile('n1'), undefined);
    assert.deepEqual([readyOf('n1'), taintsOf('n1')], ['Unknown', lost]);
    assert.deepEqual(told(), ['Normal NodeNotReady n1: Node n1 status is now: NodeNotReady']);
    assert.deepEqual(taintsOf('n2'), []);
    const said = world.asked.length;
    world.sync(nodeResource);
    await world.reconcile('n1');
    assert.deepEqual([world.asked.length, told().length], [said, 1], 'no further request and event');
  });

  it('counts a renewed Lease as a heartbeat, and no other change of the Lease', async () => {
    await add('n1', 'n2', 'n3');
    await pass(30_000, 'n1', 'n2', 'n3');
    // The last heartbeat was ten seconds ago.
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: grace - 10_000 });
    const known = world.stored(leaseResource, 'kube-node-lease/n1') ?? assert.fail();
    world.put(leaseResource, { ...known, metadata: { ...known.metadata, labels: { a: 'b' } } });
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: grace - 10_000 });
    beat('n1');
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: grace });
  });

  it('is alive if its agent updates its status, and not if other clients update it', async () => {
    await add('n1', 'n2', 'n3');
    const say = (status: 'True' | 'Unknown', lastHeartbeatTime?: string) => {
      const one = node('n1');
      const conditions = [{ type: 'Ready', status, ...(lastHeartbeatTime && { lastHeartbeatTime }) }];
      world.put(nodeResource, { ...one, status: { ...one.status, conditions } });
    };
    for (const [what, act, left] of [
      ['another label', () => world.put(nodeResource, node('n1', { labels: { a: 'b' } })), grace - 20_000],
      ['another time', () => say('True', at(20)), grace],
      ['the status unchanged', () => say('True', at(20)), grace - 10_000],
      ['the condition Ready as Unknown', () => say('Unknown', at(30)), grace - 20_000],
      ['the condition Ready as True', () => say('True', at(30)), grace],
      ['nothing', () => world.put(nodeResource, { ...node('n1'), status: undefined }), grace - 10_000],
    ] as const) {
      await pass(10_000, 'n2', 'n3');
      if (what === 'another label') await pass(10_000, 'n2', 'n3');
      act();
      assert.deepEqual(await world.reconcile('n1'), { requeueAfter: left }, what);
    }
  });

  it('gets a minute for its first heartbeat', async () => {
    await add('n2', 'n3');
    world.put(nodeResource, node('n1'));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 60_000 });
    await pass(60_000, 'n2', 'n3');
    assert.equal(await world.reconcile('n1'), undefined);
    assert.equal(readyOf('n1'), 'Unknown');
    begin({ gracePeriodMs: 90_000 });
    await add('n2', 'n3');
    world.put(nodeResource, node('n1'));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 90_000 });
  });

  it('may send one slow heartbeat, which is logged once', async () => {
    await add('n1', 'n2', 'n3');
    assert.deepEqual(told(), []);
    world.put(leaseResource, lease('n1', 80));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: grace });
    assert.deepEqual(told(), [], 'just twice');
    world.put(leaseResource, lease('n1', 240));
    for (let n = 0; n < 2; n++) assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 120_000 });
    assert.deepEqual(told(), [
      'Warning HeartbeatTooSlow n1: the node reports every 60 s, so it counts as lost after 120 s instead of after the 40 s of --node-monitor-grace-period; start the node with --heartbeat-interval 10s',
    ]);
    // The node has the same name, but is another object.
    const again = node('n1');
    world.put(nodeResource, { ...again, metadata: { ...again.metadata, uid: 'another' } });
    await world.reconcile('n1');
    assert.equal(told().length, 2);
  });

  it('whose Lease has no duration gets the default grace period', async () => {
    begin({ gracePeriodMs: 5000 });
    await add('n2', 'n3');
    world.put(nodeResource, node('n1'));
    world.put(leaseResource, lease('n1', 'none'));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 20_000 });
    assert.match(told().at(-1) ?? '', /n1: .* every 10 s, .* --heartbeat-interval 1s$/);
  });

  it('is not lost during a time in which no heartbeat could be read, even with the slowest interval', async () => {
    // Two gaps of 40 s, and a longer silence of all nodes, after which the grace periods of all begin again.
    for (const gap of [80_000, 80_001]) {
      begin();
      await add('n2', 'n3');
      world.put(nodeResource, node('n1'));
      world.put(leaseResource, lease('n1', 160));
      await world.reconcile('n1');
      await world.clock.advance(gap);
      beat('n2');
      const result = await world.reconcile('n1');
      if (gap > 80_000) assert.deepEqual(result, { requeueAfter: 80_000 }, 'afresh');
      else assert.equal(result, undefined, 'lost');
    }
  });

  it('keeps all other fields when it is written', async () => {
    world.put(nodeResource, { ...node('n1', { unschedulable: true }), spec: { podCIDR: '10.0.0.0/24' } });
    await add('n2', 'n3');
    beat('n1');
    await world.reconcile('n1');
    await pass(grace, 'n2', 'n3');
    await world.reconcile('n1');
    const { spec, status } = world.stored(nodeResource, 'n1') ?? assert.fail();
    assert.equal(spec.podCIDR, '10.0.0.0/24');
    assert.ok(status?.allocatable);
    assert.deepEqual(taintsOf('n1'), lost);
  });

  it('gets no event when it was not ready before', async () => {
    await add('n2', 'n3');
    world.put(nodeResource, node('n1', { ready: 'False' }));
    beat('n1');
    await pass(grace, 'n2', 'n3');
    await world.reconcile('n1');
    assert.equal(readyOf('n1'), 'Unknown');
    assert.deepEqual(told(), []);
  });

  it('is skipped while it is being deleted, waits for approval, or does not exist', async () => {
    await add('n2', 'n3');
    const one = node('n1');
    for (const other of [
      { ...one, metadata: { ...one.metadata, deletionTimestamp: at(0) } },
      { ...one, status: { ...one.status, phase: 'Pending' } },
    ] as Node[]) {
      world.put(nodeResource, other);
      await pass(90_000, 'n2', 'n3');
      assert.equal(await world.reconcile('n1'), undefined);
      assert.deepEqual(taintsOf('n1'), []);
    }
    // The node is approved: its time begins now.
    world.put(nodeResource, one);
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 60_000 });
    world.seen.remove(nodeResource, 'n1');
    assert.equal(await world.reconcile('n1'), undefined);
  });

  it('starts again if it is created again, with or without its Lease', async () => {
    await add('n1', 'n2', 'n3');
    await pass(30_000, 'n2', 'n3');
    world.seen.remove(leaseResource, 'kube-node-lease/n1');
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 30_000 }, 'what was heard stays');
    world.seen.remove(nodeResource, 'n1');
    world.seen.put(nodeResource, node('n1'));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 60_000 });
    await pass(30_000, 'n2', 'n3');
    world.seen.remove(nodeResource, 'n1');
    beat('n1');
    world.seen.remove(leaseResource, 'kube-node-lease/n1');
    await pass(30_000, 'n2', 'n3');
    world.seen.put(nodeResource, node('n1'));
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: 60_000 });
  });
});

describe('the pods of a node that is lost', () => {
  beforeEach(async () => {
    await add('n1', 'n2', 'n3');
    for (const [name, options] of [
      ['ready', on('n1')],
      ['also-ready', on('n1')],
      ['unready', { spec: { nodeName: 'n1' } }],
      ['ended', { ...on('n1'), phase: 'Succeeded' }],
      ['elsewhere', on('n2')],
      ['gone', on('n1')],
    ] as const)
      world.put(podResource, pod(name, options));
    world.take(podResource, 'default/gone');
    await pass(grace, 'n2', 'n3');
  });

  it('are not ready any more, so that no Service leads to them', async () => {
    await world.reconcile('n1');
    assert.deepEqual(podReadyOf('ready'), {
      type: 'Ready',
      status: 'False',
      reason: 'NodeNotReady',
      message: 'node n1 has stopped renewing its Lease',
      lastTransitionTime: at(40),
    });
    assert.equal(podReadyOf('also-ready')?.status, 'False');
    assert.equal(podReadyOf('unready')?.reason, undefined);
    assert.equal(podReadyOf('ended')?.status, 'True');
    assert.equal(podReadyOf('elsewhere')?.status, 'True');
    assert.deepEqual(
      told()
        .filter((line) => line.startsWith('Warning'))
        .sort(),
      ['also-ready', 'ready'].map((name) => `Warning NodeNotReady ${name}: Node is not ready`),
    );
  });

  it('are all updated, although one update fails, and the failure is logged', async () => {
    const failure = newInternalError('no');
    world.refuse = (verb, name) => (verb === 'updateStatus' && name === 'ready' ? failure : undefined);
    await assert.rejects(world.reconcile('n1'), failure);
    assert.equal(podReadyOf('also-ready')?.status, 'False');
    world.refuse = () => undefined;
    world.sync(nodeResource);
    world.sync(podResource);
    await world.reconcile('n1');
    assert.equal(podReadyOf('ready')?.status, 'False');
  });

  it('are updated when a pod reports Ready while its node is unknown', () => {
    assert.deepEqual(world.keysOf(podResource, pod('ready', on('n1'))), []);
    world.put(nodeResource, node('n1', { ready: 'Unknown' }));
    assert.deepEqual(world.keysOf(podResource, pod('ready', on('n1'))), ['n1']);
    const mixed = pod('mixed', on('n1'));
    const conditions = [
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', status: 'False' },
    ] as const;
    const keysWith = (...said: { type: string; status: 'True' | 'False' }[]) =>
      world.keysOf(podResource, { ...mixed, status: { ...mixed.status, conditions: said } as never });
    assert.deepEqual(keysWith(...conditions), []);
    assert.deepEqual(keysWith({ type: 'Initialized', status: 'False' }, { type: 'Ready', status: 'True' }), [
      'n1',
    ]);
    assert.deepEqual(world.keysOf(podResource, pod('unready', { spec: { nodeName: 'n1' } })), []);
    assert.deepEqual(
      world.keysOf(podResource, pod('none', { ...on('n1'), spec: { nodeName: undefined } })),
      [],
    );
    assert.deepEqual(world.keysOf(podResource, pod('none', on('nowhere'))), []);
    assert.deepEqual(world.keysOf(podResource, { ...pod('new', on('n1')), status: undefined }), []);
    assert.deepEqual(world.keysOf(podResource, pod('ready', on('n2'))), []);
  });
});

describe('while no node sends heartbeats', () => {
  it('no pod is changed, and each node is reconciled again after an eighth of the grace period', async () => {
    await add('n1', 'n2', 'n3');
    world.put(podResource, pod('ready', on('n1')));
    await pass(grace);
    assert.deepEqual(await world.reconcile('n1'), { requeueAfter: grace / 8 });
    assert.deepEqual([readyOf('n1'), taintsOf('n1')], ['Unknown', ['unreachable:NoSchedule']]);
    assert.equal(podReadyOf('ready')?.status, 'True');
    world.sync(nodeResource);
    for (const name of ['n2', 'n3']) {
      await world.reconcile(name);
      world.sync(nodeResource);
    }
    // All nodes are lost: their next heartbeats are an event of their own.
    assert.equal(await world.reconcile('n1'), undefined);
    assert.equal(podReadyOf('ready')?.status, 'True');
  });

  it('the silence begins after one and a half heartbeat intervals', async () => {
    for (const [quiet, all] of [
      [15_000, false],
      [15_001, true],
    ] as const) {
      begin();
      await add('n1', 'n2', 'n3');
      await pass(grace - quiet, 'n2', 'n3');
      beat('n2', 'n3');
      await world.clock.advance(quiet);
      await world.reconcile('n1');
      assert.deepEqual(taintsOf('n1'), all ? lost.slice(0, 1) : lost);
    }
  });

  it('neither of two nodes gets a NoExecute taint', async () => {
    await add('n1', 'n2');
    world.put(podResource, pod('ready', on('n1')));
    await pass(grace);
    await world.reconcile('n1');
    assert.deepEqual(taintsOf('n1'), lost.slice(0, 1));
    assert.equal(podReadyOf('ready')?.status, 'True');
    world.sync(nodeResource);
    await world.reconcile('n2');
    world.sync(nodeResource);
    await world.reconcile('n1');
    assert.equal(podReadyOf('ready')?.status, 'True');
  });

  it('the only node is lost as well, if its pods are ready', async () => {
    await add('n1');
    world.put(podResource, pod('ready', on('n1')));
    await pass(grace - 1);
    await world.reconcile('n1');
    assert.equal(podReadyOf('ready')?.status, 'True');
    await pass(1);
    await world.reconcile('n1');
    assert.equal(podReadyOf('ready')?.status, 'False');
    assert.deepEqual(taintsOf('n1'), lost);
    // The node is known to be lost, so that all nodes are.
    world.sync(nodeResource);
    world.put(podResource, pod('ready', on('n1')));
    await world.reconcile('n1');
    assert.equal(podReadyOf('ready')?.status, 'False');
  });
});

describe('when several nodes are lost or send heartbeats again', () => {
  const change = (name: string, ready: 'True' | 'False' | 'Unknown') =>
    world.keysOf(nodeResource, world.put(nodeResource, node(name, { ready })));

  it('the lost nodes are reconciled again when the share of lost nodes crosses a limit', async () => {
    await add('n1', 'n2', 'n3', 'n4', 'n5');
    assert.deepEqual(change('n1', 'Unknown'), ['n1']);
    assert.deepEqual(change('n2', 'False'), ['n2']);
    // More than half of the nodes are not ready.
    assert.deepEqual(change('n3', 'Unknown'), ['n3', 'n1', 'n2', 'n3']);
    assert.deepEqual(change('n3', 'Unknown'), ['n3']);
    assert.deepEqual(change('n4', 'Unknown'), ['n4']);
    assert.deepEqual(change('n5', 'Unknown'), ['n5', 'n1', 'n2', 'n3', 'n4', 'n5']);
    assert.deepEqual(change('n5', 'True'), ['n5', 'n1', 'n2', 'n3', 'n4']);
  });

  it('a node that is being deleted, or has no status yet, is not counted', async () => {
    await add('n1', 'n2', 'n3', 'n4', 'n5');
    for (const name of ['n1', 'n2', 'n3']) change(name, 'Unknown');
    const silent = node('n6');
    world.put(nodeResource, { ...silent, status: { ...silent.status, conditions: [] } });
    assert.deepEqual(change('n5', 'True'), ['n5'], 'three of five still');
    world.seen.remove(nodeResource, 'n3');
    assert.deepEqual(world.keysOf(nodeResource, node('n3')), ['n3', 'n1', 'n2']);
    // Two of the two nodes that have reported a status.
    world.seen.remove(nodeResource, 'n4');
    world.seen.remove(nodeResource, 'n5');
    assert.deepEqual(change('n6', 'Unknown').slice(0, 1), ['n6']);
  });
});
