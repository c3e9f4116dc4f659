/**
 * Leases of masters: a master renews its own, monitors those of others, and publishes the live masters;
 * the cache may lag.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../src/api/coordination/v1/lease.ts';
import { endpointsResource } from '../../../../src/api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
} from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { newConflict, newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { mastersController } from '../../../../src/controllers/masters/masters.ts';
import { masterLabels, sliceLabels } from '../../../../src/controllers/masters/masters-plan.ts';
import { meta, service, start } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const own = 'kube-system/apiserver-192.0.2.1-6443';
const other = 'kube-system/apiserver-192.0.2.2-6443';
const micro = (seconds: number) => new Date(start + seconds * 1000).toISOString().replace('Z', '000Z');
let world: ScriptedWorld;
let published = 0;

function begin(address = '192.0.2.1'): void {
  published = 0;
  const onPublished = () => void published++;
  world = new ScriptedWorld(
    mastersController({ address, port: 6443, hostname: 'm1', version: '0.1.0', onPublished }),
  );
}
/** Reconciles everything, and then updates the cache. */
async function round() {
  const result = await world.reconcile('masters');
  for (const ref of [leaseResource, endpointSliceResource, endpointsResource]) world.sync(ref as never);
  return result;
}
/** Runs a round every five seconds. */
async function pass(seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 5) {
    await world.clock.advance(5000);
    await round();
  }
}
const lease = (address = '192.0.2.2', port = 6443): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: meta(`apiserver-${address}-${port}`, { namespace: 'kube-system', labels: masterLabels }),
  spec: { holderIdentity: `${address}:${port}` },
});
const slice = (name = 'kubernetes') => world.stored(endpointSliceResource, `default/${name}`);
const listed = () => slice()?.endpoints.flatMap(({ addresses }) => addresses);
const inEndpoints = () =>
  world
    .stored(endpointsResource, 'default/kubernetes')
    ?.subsets?.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
const removals = () => world.log.of('warn').map(({ fields }) => fields.lease);

beforeEach(() => begin());

describe('its own Lease', () => {
  it('is created, and is listed when the cache shows it', async () => {
    assert.deepEqual(await round(), { requeueAfter: 5000 });
    const { apiVersion, kind, metadata, spec } = world.stored(leaseResource, own) ?? assert.fail();
    assert.deepEqual([apiVersion, kind], ['coordination.k8s.io/v1', 'Lease']);
    assert.deepEqual(metadata.labels, masterLabels);
    assert.deepEqual(metadata.annotations, { 'minik8s.io/hostname': 'm1', 'minik8s.io/version': '0.1.0' });
    assert.deepEqual(spec, {
      holderIdentity: '192.0.2.1:6443',
      leaseDurationSeconds: 15,
      acquireTime: micro(0),
      renewTime: micro(0),
    });
    assert.deepEqual([listed(), published], [undefined, 0]);
    assert.deepEqual(await round(), { requeueAfter: 5000 });
    assert.deepEqual([listed(), inEndpoints(), published], [['192.0.2.1'], ['192.0.2.1'], 1]);
  });

  it('is renewed every five seconds, and keeps foreign fields', async () => {
    await round();
    const made = world.stored(leaseResource, own) ?? assert.fail();
    const annotations = { theirs: 'x', 'minik8s.io/hostname': 'wrong' };
    world.put(leaseResource, { ...made, metadata: { ...made.metadata, annotations } });
    await world.clock.advance(4999);
    assert.deepEqual(await round(), { requeueAfter: 1 });
    assert.equal(world.stored(leaseResource, own)?.spec.renewTime, micro(0));
    await world.clock.advance(1);
    assert.deepEqual(await round(), { requeueAfter: 5000 });
    const { kind, metadata, spec } = world.stored(leaseResource, own) ?? assert.fail();
    assert.equal(kind, 'Lease');
    assert.deepEqual([spec.acquireTime, spec.renewTime], [micro(0), micro(5)]);
    assert.deepEqual(metadata.annotations, {
      theirs: 'x',
      'minik8s.io/hostname': 'm1',
      'minik8s.io/version': '0.1.0',
    });
  });

  it('is renewed at once after an earlier run', async () => {
    const before = lease('192.0.2.1');
    world.put(leaseResource, { ...before, spec: { ...before.spec, acquireTime: micro(-60) } });
    await round();
    const { spec } = world.stored(leaseResource, own) ?? assert.fail();
    assert.deepEqual([spec.acquireTime, spec.renewTime], [micro(-60), micro(0)]);
  });

  it('is retried if it exists but is not in the cache, and fails with any other error', async () => {
    world.store(leaseResource, lease('192.0.2.1'));
    assert.deepEqual(await world.reconcile('masters'), { requeueAfter: 5000 });
    begin();
    const failure = newInternalError('no');
    world.refuse = () => failure;
    await assert.rejects(world.reconcile('masters'), failure);
  });

  it('never expires for its own master, even if the cache is far behind', async () => {
    await round();
    world.sync(leaseResource);
    for (let n = 0; n < 5; n++) {
      await world.clock.advance(5000);
      // The server has an earlier renewal that the cache lacks, so that this one may fail with a conflict.
      await world.reconcile('masters').catch((error) => assert.match(String(error), /it has changed/));
    }
    assert.ok(world.stored(leaseResource, own));
    assert.deepEqual([removals(), listed()], [[], ['192.0.2.1']]);
  });

  it('is created again after its deletion, and never expires in its own process', async () => {
    await round();
    await round();
    world.take(leaseResource, own);
    world.sync(leaseResource);
    await round();
    assert.ok(world.stored(leaseResource, own));
    world.refuse = (verb) => (verb === 'update' ? newInternalError('no') : undefined);
    for (let n = 0; n < 6; n++) {
      await world.clock.advance(5000);
      await assert.rejects(world.reconcile('masters'));
    }
    world.refuse = () => undefined;
    await round();
    assert.deepEqual([removals(), listed()], [[], ['192.0.2.1']]);
  });
});

describe('another master', () => {
  beforeEach(async () => {
    world.put(leaseResource, lease());
    await round();
    await round();
    assert.deepEqual(
      [listed(), inEndpoints()],
      [
        ['192.0.2.1', '192.0.2.2'],
        ['192.0.2.1', '192.0.2.2'],
      ],
    );
  });

  it('is removed when its Lease has not changed for 15 s', async () => {
    await pass(10);
    await world.clock.advance(4999);
    assert.deepEqual(await round(), { requeueAfter: 1 });
    assert.deepEqual(removals(), []);
    await world.clock.advance(1);
    assert.deepEqual(await round(), { requeueAfter: 1 });
    assert.deepEqual(removals(), ['apiserver-192.0.2.2-6443']);
    assert.equal(world.stored(leaseResource, other), undefined);
    assert.deepEqual([listed(), inEndpoints()], [['192.0.2.1'], ['192.0.2.1']]);
  });

  it('stays while its Lease changes', async () => {
    for (let n = 0; n < 5; n++) {
      const renewed = lease();
      renewed.metadata.resourceVersion = `renewed ${n}`;
      world.put(leaseResource, renewed);
      await pass(10);
    }
    assert.deepEqual([removals(), listed()], [[], ['192.0.2.1', '192.0.2.2']]);
  });

  it('is not removed by a master that was stopped itself', async () => {
    await world.clock.advance(9999);
    await round();
    await world.clock.advance(5000);
    await round();
    await world.clock.advance(1);
    await round();
    assert.equal(removals().length, 1, 'not away for long enough to say so');
    const again = lease();
    again.metadata.resourceVersion = 'made again';
    world.put(leaseResource, again);
    await round();
    await pass(5);
    await world.clock.advance(10_000);
    await round();
    await pass(10);
    assert.equal(removals().length, 1);
    await pass(5);
    assert.equal(removals().length, 2);
  });

  it('whose Lease was renewed in the meantime is kept, and a Lease that is already deleted is no error', async () => {
    await pass(10);
    world.refuse = (verb, name) =>
      verb === 'delete' ? newConflict(leaseResource, name, 'renewed') : undefined;
    await pass(5);
    assert.ok(world.stored(leaseResource, other));
    world.refuse = (verb, name) => (verb === 'delete' ? newNotFound(leaseResource, name) : undefined);
    await pass(5);
    assert.deepEqual(removals(), []);
    world.refuse = (verb) => (verb === 'delete' ? newInternalError('no') : undefined);
    await world.clock.advance(5000);
    await assert.rejects(world.reconcile('masters'), /no/);
  });

  it('is kept when the cache has an older version of its Lease', async () => {
    await pass(10);
    const renewed = lease();
    renewed.metadata.resourceVersion = 'renewed';
    world.store(leaseResource, renewed);
    await world.clock.advance(5000);
    await world.reconcile('masters');
    assert.deepEqual([removals(), world.stored(leaseResource, other)], [[], renewed]);
  });
});

describe('the published endpoints', () => {
  it('are restored, and slices of other ports are deleted', async () => {
    world.put(leaseResource, lease('192.0.2.2', 7443));
    await round();
    await round();
    assert.equal(slice('kubernetes-7443')?.ports[0]?.port, 7443);
    const changed = slice() ?? assert.fail();
    world.put(endpointSliceResource, { ...changed, endpoints: [] });
    world.seen.remove(leaseResource, 'kube-system/apiserver-192.0.2.2-7443');
    world.take(leaseResource, 'kube-system/apiserver-192.0.2.2-7443');
    await round();
    assert.deepEqual([listed(), slice('kubernetes-7443')], [['192.0.2.1'], undefined]);
    assert.deepEqual(inEndpoints(), ['192.0.2.1']);
  });

  it('are not written again', async () => {
    for (let n = 0; n < 2; n++) await round();
    const { length } = world.asked;
    await round();
    assert.deepEqual([world.asked.length, published], [length, 2]);
  });

  it('are retried when another master was faster, and fail with any other error', async () => {
    for (const [verb, faster] of [
      ['create', []],
      ['update', [newConflict, newNotFound]],
      ['delete', [newNotFound]],
    ] as const) {
      begin();
      world.put(leaseResource, lease('192.0.2.2', 7443));
      await round();
      const broken = (name: string): EndpointSlice => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: meta(name, { labels: sliceLabels }),
        addressType: 'IPv4',
        endpoints: [],
        ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
      });
      if (verb !== 'create')
        for (const name of ['kubernetes', 'kubernetes-9']) world.put(endpointSliceResource, broken(name));
      for (const error of faster) {
        world.refuse = (asked, name) =>
          asked === verb && name.startsWith('kubernetes')
            ? error(endpointSliceResource, name, 'another was faster')
            : undefined;
        await world.reconcile('masters');
      }
      world.refuse = (asked, name) =>
        asked === verb && name.startsWith('kubernetes') ? newInternalError('no') : undefined;
      const before = published;
      await assert.rejects(world.reconcile('masters'), /no/, verb);
      assert.equal(published, before);
    }
  });

  it('include an existing slice of that name, unless the cache only lags', async () => {
    const theirs = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: meta('kubernetes', { labels: { theirs: 'x' } }),
      addressType: 'IPv4',
      endpoints: [],
      ports: [],
    } as EndpointSlice;
    await round();
    world.store(endpointSliceResource, theirs);
    await world.reconcile('masters');
    assert.deepEqual(slice()?.metadata.labels, { theirs: 'x', ...sliceLabels });
    assert.deepEqual(listed(), ['192.0.2.1']);
    const labelled = { ...theirs, metadata: { ...theirs.metadata, labels: sliceLabels } };
    world.store(endpointSliceResource, labelled);
    await world.reconcile('masters');
    assert.equal(slice(), labelled);
    // The object is removed before the controller reads it.
    world.refuse = (verb, name) => (verb === 'get' ? newNotFound(endpointSliceResource, name) : undefined);
    await world.reconcile('masters');
    world.refuse = (verb) => (verb === 'get' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile('masters'), /no/);
  });

  it('contain no master on loopback, and then there are no Endpoints', async () => {
    begin('127.0.0.1');
    world.put(endpointsResource, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: meta('kubernetes'),
      subsets: [],
    });
    await round();
    await round();
    assert.equal(world.stored(endpointsResource, 'default/kubernetes'), undefined);
    assert.equal(slice(), undefined);
    assert.equal(published, 1);
  });
});

it('are reconciled when any object that they depend on changes', () => {
  for (const [ref, object] of [
    [leaseResource, lease()],
    [serviceResource, service()],
    [endpointsResource, service()],
    [endpointSliceResource, service()],
  ] as const)
    assert.deepEqual(world.keysOf(ref as never, object as never), ['masters']);
});
