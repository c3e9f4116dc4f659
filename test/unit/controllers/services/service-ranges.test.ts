/** The controller of ServiceCIDRs: the default one, conditions, and deletion while addresses are used. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Service, serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import {
  serviceCIDRResource as kind,
  type ServiceCIDR,
} from '../../../../src/api/networking/v1/service-cidr.ts';
import { rfc3339 } from '../../../../src/base/time.ts';
import {
  serviceRangesController,
  serviceRangesRights,
} from '../../../../src/controllers/services/service-ranges.ts';
import { deletionGraceMs } from '../../../../src/controllers/services/service-ranges-plan.ts';
import { meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const own = '10.96.0.0/16';
const finalizers = ['networking.k8s.io/service-cidr-finalizer'];
const ranges = (name: string, cidrs: string[], over: object = {}): ServiceCIDR => ({
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
  metadata: { ...meta(name, { finalizers, ...over }), namespace: undefined },
  spec: { cidrs },
});
const service = (name: string, clusterIP: string) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: meta(name) },
    spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP] },
  }) as unknown as Service;
const start = (serviceCidr = own) =>
  new ScriptedWorld(serviceRangesController(serviceCidr), 0, [serviceRangesRights]);
const ready = (world: ScriptedWorld, name: string) => {
  const { type, status, reason } = world.stored(kind, name)?.status?.conditions?.[0] ?? {};
  return [type, status, reason];
};

describe('the default ServiceCIDR', () => {
  it('is made with the ranges of the setting', async () => {
    const world = start(`${own},fd00:10:96::/112`);
    await world.reconcile('kubernetes');
    assert.deepEqual(world.stored(kind, 'kubernetes')?.spec?.cidrs, [own, 'fd00:10:96::/112']);
  });

  it('gets the second family when the setting has it', async () => {
    const world = start(`${own},fd00:10:96::/112`);
    world.put(kind, ranges('kubernetes', [own]));
    await world.reconcile('kubernetes');
    assert.deepEqual(world.stored(kind, 'kubernetes')?.spec?.cidrs, [own, 'fd00:10:96::/112']);
  });

  it('keeps other ranges, with an event', async () => {
    const world = start();
    world.put(kind, ranges('kubernetes', ['10.97.0.0/16']));
    await world.reconcile('kubernetes');
    assert.deepEqual(world.stored(kind, 'kubernetes')?.spec?.cidrs, ['10.97.0.0/16']);
    assert.match(
      world.told.join(),
      /^Warning KubernetesDefaultServiceCIDRInconsistent kubernetes: The default /,
    );
  });

  it('is reconciled for the Service of the API, and no other range is made', async () => {
    const world = start();
    assert.deepEqual(world.keysOf(serviceResource, service('kubernetes', '10.96.0.1')), ['kubernetes']);
    assert.deepEqual(world.keysOf(serviceResource, service('web', '10.96.0.2')), []);
    await world.reconcile('other');
    assert.equal(world.stored(kind, 'other'), undefined);
  });
});

describe('a ServiceCIDR', () => {
  it('gets its finalizer, then the condition Ready, and then nothing more', async () => {
    const world = start();
    world.put(kind, ranges('more', ['203.0.113.0/24'], { finalizers: undefined }));
    await world.reconcile('more');
    assert.deepEqual(world.stored(kind, 'more')?.metadata.finalizers, finalizers);
    assert.deepEqual(ready(world, 'more'), [undefined, undefined, undefined]);
    world.sync(kind);
    await world.reconcile('more');
    assert.deepEqual(ready(world, 'more'), ['Ready', 'True', '']);
    world.sync(kind);
    const before = world.asked.length;
    await world.reconcile('more');
    assert.equal(world.asked.length, before);
  });

  const ended = (world: ScriptedWorld, agoMs: number) => rfc3339(world.clock.now() - agoMs);
  const later = deletionGraceMs + 1_000;

  it('stays while a Service has an address of it, and goes when another range has the address', async () => {
    const world = start();
    world.put(kind, ranges('more', ['203.0.113.0/24'], { deletionTimestamp: ended(world, later) }));
    world.put(serviceResource, service('web', '203.0.113.7'));
    await world.reconcile('more');
    assert.deepEqual(ready(world, 'more'), ['Ready', 'False', 'Terminating']);
    world.sync(kind);
    world.put(kind, ranges('one', ['203.0.113.0/29'], { deletionTimestamp: ended(world, later) }));
    await world.reconcile('more');
    assert.ok(world.stored(kind, 'more'), 'a terminating range does not replace it');
    world.put(kind, ranges('two', ['203.0.113.0/28']));
    await world.reconcile('more');
    assert.equal(world.stored(kind, 'more'), undefined);
  });

  it('goes when no Service has an address of it, after the time in which masters may lag', async () => {
    const world = start();
    world.put(kind, ranges('more', ['203.0.113.0/24'], { deletionTimestamp: ended(world, 1_000) }));
    world.put(serviceResource, service('web', '10.96.0.7'));
    assert.deepEqual(await world.reconcile('more'), { requeueAfter: deletionGraceMs - 1_000 });
    await world.clock.advance(deletionGraceMs);
    await world.reconcile('more');
    assert.equal(world.stored(kind, 'more'), undefined);
  });

  it('goes without a finalizer of its own only when others have removed theirs', async () => {
    const world = start();
    const over = { finalizers: ['example.com/x'], deletionTimestamp: ended(world, later) };
    world.put(kind, ranges('more', ['203.0.113.0/24'], over));
    await world.reconcile('more');
    assert.deepEqual(world.asked, []);
  });

  it('is reconciled while it is terminating, for other ranges and for Services with its addresses', () => {
    const world = start();
    world.put(kind, ranges('more', ['203.0.113.0/24'], { deletionTimestamp: ended(world, 0) }));
    assert.deepEqual(world.keysOf(kind, ranges('other', ['10.0.0.0/24'])), ['other', 'more']);
    assert.deepEqual(world.keysOf(serviceResource, service('web', '203.0.113.7')), ['more']);
    assert.deepEqual(world.keysOf(serviceResource, service('web', '203.0.112.7')), []);
  });
});
