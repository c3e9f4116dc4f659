/**
 * Objects that every cluster has from the beginning are created again, also when other masters do the same.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { type Service, serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { systemObjects } from '../../../../src/api/core/v1/system-objects.ts';
import { newConflict, newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { systemObjectsController } from '../../../../src/controllers/masters/system-objects.ts';
import { meta, service } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const objects = systemObjects({
  apiAddress: '10.96.0.1',
  apiPort: 6443,
  dnsAddress: '10.96.0.10',
  dnsDomain: 'cluster.local',
});
const [api, dns] = ['default/kubernetes', 'kube-system/kube-dns'];
let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(systemObjectsController(objects));
});
const all = async () => {
  for (const key of ['namespaces', api, dns]) await world.reconcile(key);
};
const sync = () => {
  for (const ref of [namespaceResource, serviceResource]) world.sync(ref as never);
};
const serviceAt = (key: string) => world.stored<Service>(serviceResource, key);
/** Changes the Service of the API in the cache and on the server. */
const change = (over: Partial<Service['spec']>) => {
  const there = serviceAt(api) ?? assert.fail();
  return world.put(serviceResource, { ...there, spec: { ...there.spec, ...over } });
};

test('all objects are created, and none if they exist', async () => {
  await all();
  assert.deepEqual(world.names(namespaceResource), [
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
  assert.equal(serviceAt(api)?.spec.clusterIP, '10.96.0.1');
  assert.equal(serviceAt(dns)?.spec.clusterIP, '10.96.0.10');
  assert.deepEqual(
    world.log.of('info').map(({ fields }) => fields),
    [
      { namespace: 'default' },
      { namespace: 'kube-system' },
      { namespace: 'kube-public' },
      { namespace: 'kube-node-lease' },
      { service: api },
      { service: dns },
    ],
  );
  sync();
  const { length } = world.asked;
  await all();
  assert.equal(world.asked.length, length);
});

test('creating an object that exists and is not in the cache does not fail', async () => {
  await all();
  await all();
  assert.equal(world.names(serviceResource).length, 2);
  world = new ScriptedWorld(systemObjectsController(objects));
  world.refuse = () => newInternalError('no');
  for (const key of ['namespaces', api, dns]) await assert.rejects(world.reconcile(key), /no/);
});

test('the Service of the API is corrected, while the Service of cluster DNS is only created if it is missing', async () => {
  await all();
  sync();
  change({ selector: { app: 'mine' } });
  await world.reconcile(api);
  assert.equal(serviceAt(api)?.spec.selector, undefined);
  assert.deepEqual(
    world.log.of('warn').map(({ message, fields }) => [message, fields]),
    [['the Service of the API server was changed; restoring it', { service: 'kubernetes' }]],
  );
  const own = serviceAt(dns) ?? assert.fail();
  const changed = { ...own, spec: { ...own.spec, selector: { app: 'mine' } } };
  world.put(serviceResource, changed);
  await world.reconcile(dns);
  assert.equal(serviceAt(dns), changed);
});

test('the Service of the API gets the range of IPv6 of a cluster that begins to have one, and keeps another one', async () => {
  await all();
  sync();
  const of = (serviceRangeIPv6: string) =>
    systemObjectsController(
      systemObjects({
        ...{ apiAddress: '10.96.0.1', apiPort: 6443, serviceRangeIPv6 },
        ...{ dnsAddress: '10.96.0.10', dnsDomain: 'cluster.local' },
      }),
    );
  const before = serviceAt(api) ?? assert.fail();
  for (const range of ['fd00:10:96::/112', 'fd00:10:97::/112']) {
    const stored = serviceAt(api) ?? assert.fail();
    world = new ScriptedWorld(of(range));
    world.put(serviceResource, stored);
    await world.reconcile(api);
    const { metadata, spec } = serviceAt(api) ?? assert.fail();
    assert.equal(metadata.annotations?.['minik8s.io/service-cidr-ipv6'], 'fd00:10:96::/112');
    assert.deepEqual(spec, before.spec);
    assert.deepEqual(world.log.of('warn'), []);
  }
});

test('a Service with another address is deleted only with the UID that was seen', async () => {
  await all();
  sync();
  const wrong = change({ clusterIP: '10.96.0.9' });
  world.store(serviceResource, { ...wrong, metadata: { ...wrong.metadata, uid: 'another' } });
  await world.reconcile(api);
  assert.ok(serviceAt(api), 'another one by now');
  world.put(serviceResource, wrong);
  await world.reconcile(api);
  assert.equal(serviceAt(api), undefined);
  assert.deepEqual(world.log.of('warn')[0], {
    level: 'warn',
    message: 'the Service of the API server has a wrong address; creating it again',
    fields: { service: 'kubernetes' },
  });
  sync();
  await world.reconcile(api);
  assert.equal(serviceAt(api)?.spec.clusterIP, '10.96.0.1');
});

test('a conflict with another master does not fail; any other error does', async () => {
  await all();
  sync();
  for (const over of [{ selector: { app: 'mine' } }, { clusterIP: '10.96.0.9' }]) {
    change(over);
    for (const error of [
      newConflict(serviceResource, 'kubernetes', 'changed'),
      newNotFound(serviceResource, 'kubernetes'),
    ]) {
      world.refuse = () => error;
      await world.reconcile(api);
    }
    world.refuse = () => newInternalError('no');
    await assert.rejects(world.reconcile(api), /no/);
  }
});

test('only changes of the kept objects cause a reconciliation', async () => {
  const namespace = (name: string) => ({ ...service(), kind: 'Namespace', metadata: meta(name) });
  assert.deepEqual(world.keysOf(namespaceResource, namespace('kube-node-lease') as never), ['namespaces']);
  assert.deepEqual(world.keysOf(namespaceResource, namespace('mine') as never), []);
  const one = { ...service(), metadata: meta('kubernetes') };
  assert.deepEqual([...new Set(world.keysOf(serviceResource, one))], [api]);
  await world.reconcile('default/another');
  assert.deepEqual(world.asked, []);
});
