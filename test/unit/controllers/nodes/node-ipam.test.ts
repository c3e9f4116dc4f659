/** Pod address ranges of nodes while the cache lags, and the events about ranges that cannot be used. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Node, nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { nodeIpam, podRangeClaims } from '../../../../src/controllers/nodes/node-ipam.ts';
import { at, node as makeNode } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

let world: ScriptedWorld;
const begin = (options?: Parameters<typeof nodeIpam>[0]) => {
  world = new ScriptedWorld(nodeIpam(options));
};
beforeEach(() => begin({ clusterCidr: '10.244.0.0/23' }));

/** A node whose agent has reported its machine. */
function node(name: string, range?: string, over: Partial<Node['metadata']> = {}): Node {
  const one = makeNode(name);
  return {
    ...one,
    metadata: { ...one.metadata, ...over },
    spec: range === undefined ? {} : { podCIDR: range, podCIDRs: [range] },
    status: { ...one.status, nodeInfo: { machineID: '' } } as unknown as Node['status'],
  };
}
const put = (...args: Parameters<typeof node>) => world.put(nodeResource, node(...args));
const rangeOf = (name: string) => world.stored(nodeResource, name)?.spec.podCIDR;
const conflictOf = (name: string) =>
  world.stored(nodeResource, name)?.status?.conditions?.find(({ type }) => type !== 'Ready');

describe('a node without a range', () => {
  it('gets a free range, also while the cache is behind', async () => {
    for (const name of ['a', 'b']) {
      put(name);
      await world.reconcile(name);
    }
    assert.deepEqual([rangeOf('a'), rangeOf('b')], ['10.244.0.0/24', '10.244.1.0/24']);
    assert.deepEqual(world.stored(nodeResource, 'a')?.spec.podCIDRs, ['10.244.0.0/24']);
    const { length } = world.asked;
    await world.reconcile('a');
    assert.equal(world.asked.length, length, 'nothing is written that was written');
    assert.deepEqual(world.told, []);
  });

  it('gets a range of each family of the cluster, and waits if one of them has none left', async () => {
    begin({ clusterCidr: '10.244.0.0/16,fd00:10:244::/63' });
    for (const name of ['a', 'b', 'c']) {
      put(name);
      await world.reconcile(name);
    }
    const rangesOf = (name: string) => world.stored(nodeResource, name)?.spec.podCIDRs;
    assert.deepEqual(rangesOf('a'), ['10.244.0.0/24', 'fd00:10:244::/64']);
    assert.deepEqual(rangesOf('b'), ['10.244.1.0/24', 'fd00:10:244:1::/64']);
    assert.deepEqual([rangeOf('b'), rangesOf('c')], ['10.244.1.0/24', undefined]);
    assert.match(JSON.stringify(world.told), /no free \/64 is left in fd00:10:244::\/63 for node c/);
  });

  it('gets a range of the default size of the default cluster range, or of the given one', async () => {
    for (const [options, first, second] of [
      [undefined, '10.244.0.0/24', '10.244.1.0/24'],
      [{ nodeMaskSize: 16 }, '10.244.0.0/16', undefined],
      [{ clusterCidr: '10.0.0.0/29', nodeMaskSize: 30 }, '10.0.0.0/30', '10.0.0.4/30'],
    ] as const) {
      begin(options);
      for (const name of ['a', 'b']) {
        put(name);
        await world.reconcile(name);
      }
      assert.deepEqual([rangeOf('a'), rangeOf('b')], [first, second]);
    }
  });

  it('waits for its machine, and is skipped if it is being deleted or does not exist', async () => {
    world.put(nodeResource, makeNode('a'));
    put('b', undefined, { deletionTimestamp: at(0) });
    for (const name of ['a', 'b', 'none']) await world.reconcile(name);
    assert.deepEqual([world.asked, world.told], [[], []]);
  });

  it('gets a condition if no range is left, and a range when one is free again', async () => {
    for (const name of ['a', 'b']) {
      put(name, name === 'a' ? '10.244.0.0/24' : '10.244.1.0/24');
      await world.reconcile(name);
    }
    put('c');
    await world.reconcile('c');
    assert.deepEqual(world.told, [
      "Warning CIDRNotAvailable c: no free /24 is left in 10.244.0.0/23 for node c; delete unused nodes or enlarge the cluster's pod range",
    ]);
    assert.deepEqual(world.keysOf(nodeResource, node('a', '10.244.0.0/24')), ['a', 'a']);
    world.seen.remove(nodeResource, 'a');
    assert.deepEqual(world.keysOf(nodeResource, node('a', '10.244.0.0/24')), ['a', 'c']);
    await world.reconcile('c');
    assert.equal(rangeOf('c'), '10.244.0.0/24');
    world.seen.remove(nodeResource, 'b');
    assert.deepEqual(world.keysOf(nodeResource, node('b', '10.244.1.0/24')), ['b'], 'it waits no more');
  });

  it('does not wait for a range if it is deleted', async () => {
    put('a', '10.244.0.0/23');
    put('c');
    await world.reconcile('c');
    world.seen.remove(nodeResource, 'c');
    await world.reconcile('c');
    world.seen.remove(nodeResource, 'a');
    assert.deepEqual(world.keysOf(nodeResource, node('a', '10.244.0.0/23')), ['a']);
  });

  it('is retried if its write fails, and its range is free for other nodes in the meantime', async () => {
    world.refuse = () => newInternalError('no');
    put('a');
    await assert.rejects(world.reconcile('a'), /no/);
    world.refuse = () => undefined;
    put('b');
    await world.reconcile('b');
    await world.reconcile('a');
    assert.deepEqual([rangeOf('a'), rangeOf('b')], ['10.244.1.0/24', '10.244.0.0/24']);
  });

  it('gets a range if it was created again, and the range of its former Node is free', async () => {
    begin({ clusterCidr: '10.244.0.0/24' });
    put('a');
    await world.reconcile('a');
    // The cache never showed the range.
    put('a', undefined, { uid: 'another' });
    await world.reconcile('a');
    assert.equal(rangeOf('a'), '10.244.0.0/24');
    // The state in the cache counts: another client has removed the range.
    world.sync(nodeResource);
    put('b');
    await world.reconcile('b');
    assert.equal(rangeOf('b'), undefined);
    put('a', undefined, { uid: 'another' });
    await world.reconcile('a');
    assert.equal(rangeOf('a'), '10.244.0.0/24');
  });
});

describe('a node that came with a range', () => {
  it('gets a condition if another node has the same range, and another one when the range is usable', async () => {
    put('a', '10.244.0.0/24');
    put('b', '10.244.0.0/25', { creationTimestamp: at(1) });
    for (const name of ['a', 'b']) await world.reconcile(name);
    assert.equal(conflictOf('a'), undefined);
    const said = conflictOf('b') ?? assert.fail();
    assert.deepEqual([said.status, said.lastTransitionTime], ['True', at(0)]);
    assert.match(said.message ?? '', /10\.244\.0\.0\/25 of node b overlaps that of node a/);
    assert.ok(world.stored(nodeResource, 'b')?.status?.allocatable, 'the rest of its status stays');
    assert.deepEqual(world.told, [`Warning PodCIDRConflict b: ${said.message}`]);
    world.sync(nodeResource);
    const { length } = world.asked;
    await world.reconcile('b');
    assert.equal(world.asked.length, length);
    world.take(nodeResource, 'a');
    world.sync(nodeResource);
    await world.reconcile('b');
    assert.equal(conflictOf('b')?.status, 'False');
    assert.deepEqual(world.told.slice(1), [
      'Normal PodCIDRUsable b: the pod range of this node can be used now',
    ]);
  });

  it('is reconciled when a node with an overlapping range changes', () => {
    put('a', '10.244.0.0/24');
    put('b', '10.244.0.128/25');
    put('c', '10.244.1.0/24');
    assert.deepEqual(world.keysOf(nodeResource, node('a', '10.244.0.0/24')), ['a', 'a', 'b']);
    assert.deepEqual(world.keysOf(nodeResource, node('d', '10.244.0.0/23')), ['d', 'a', 'b', 'c']);
  });
});

describe('the cluster range in the settings', () => {
  it('must be a range that is large enough for the ranges of nodes', () => {
    for (const options of [
      { nodeMaskSize: 15 },
      { nodeMaskSize: 31 },
      { nodeMaskSize: 24.5 },
      { clusterCidr: '10.244.0.0' },
      { clusterCidr: 'fd00::/48' },
    ])
      assert.throws(() => nodeIpam(options), /nodeMaskSize .* use 16 to 30$|clusterCidr .* use one such as/);
    for (const nodeMaskSize of [16, 30]) assert.ok(nodeIpam({ nodeMaskSize }));
  });

  it('limits the ranges that a node may name itself', () => {
    const claims = podRangeClaims('10.244.0.0/16');
    assert.equal(claims(node('a', '10.244.7.0/24'), []), undefined);
    assert.match(claims(node('a', '10.244.7.0/24'), [node('b', '10.244.7.0/24')]) ?? '', /overlaps/);
    assert.match(claims(node('a', '10.9.0.0/24'), []) ?? '', /not inside the cluster-cidr 10\.244\.0\.0\/16/);
    assert.throws(() => podRangeClaims('none'), /is not an IPv4 range/);
  });
});
