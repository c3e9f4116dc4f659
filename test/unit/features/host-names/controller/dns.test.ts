/** Changes after which the status of a Dns is reconciled, and the writes then. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Node, nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { serviceResource } from '../../../../../src/api/core/v1/service/service.ts';
import { dnsResource } from '../../../../../src/features/host-names/api/dns.ts';
import { dnsController, dnsRights } from '../../../../../src/features/host-names/controller/dns.ts';
import { makeService } from '../../../cluster-dns/objects.ts';
import { at, node as makeNode } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';
import { makeDns } from '../agent/objects.ts';

let world: ScriptedWorld;
const web = makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] });
const namespace = web.metadata.namespace;
const key = `${namespace}/one`;
const serving = (name: string): Node => {
  const made = makeNode(name);
  const served = { type: 'DnsServed', status: 'True', reason: 'Serving', message: '' } as const;
  return {
    ...made,
    status: { ...made.status, conditions: [...(made.status?.conditions ?? []), served] },
  };
};

beforeEach(() => {
  world = new ScriptedWorld(dnsController({ clusterDomain: 'cluster.local' }), 0, [dnsRights]);
  world.put(dnsResource, makeDns('one', 'a.example', ['/=web:80']));
});
const ready = () => world.stored(dnsResource, key)?.status?.conditions?.find(({ type }) => type === 'Ready');

test('a Dns is reconciled when it or a Service of its paths changes', () => {
  const other = world.put(dnsResource, makeDns('two', 'b.example', ['/=db:80', '/a=web:80']));
  assert.deepEqual(world.keysOf(dnsResource, other), [`${namespace}/two`]);
  assert.deepEqual(world.keysOf(serviceResource, web), [key, `${namespace}/two`]);
  const elsewhere = { ...web, metadata: { ...web.metadata, namespace: 'elsewhere' } };
  assert.deepEqual(world.keysOf(serviceResource, elsewhere), []);
  const db = { ...web, metadata: { ...web.metadata, name: 'db' } };
  assert.deepEqual(world.keysOf(serviceResource, db), [`${namespace}/two`]);
});

test('objects of a host are reconciled when it becomes the host of another namespace, and not with every change', () => {
  const elsewhere = (name: string, creationTimestamp: string) =>
    makeDns(name, 'a.example', ['/x=web:80'], { namespace: 'other', creationTimestamp });
  const one = world.stored(dnsResource, key);
  assert.ok(one);
  assert.deepEqual(world.keysOf(dnsResource, one), [key], 'the host is new');
  const later = world.put(dnsResource, elsewhere('later', '2026-01-01T00:00:01Z'));
  assert.deepEqual(world.keysOf(dnsResource, later), ['other/later']);
  assert.deepEqual(world.keysOf(dnsResource, one), [key]);
  world.seen.remove(dnsResource, key);
  assert.deepEqual(world.keysOf(dnsResource, one), [key, 'other/later'], 'its first object has gone');
  world.seen.remove(dnsResource, 'other/later');
  assert.deepEqual(world.keysOf(dnsResource, later), ['other/later']);
});

test('objects of a namespace are reconciled while it has too many paths, and once more when it no longer has', async () => {
  world.put(nodeResource, serving('n1'));
  world.put(serviceResource, web);
  const one = world.stored(dnsResource, key);
  assert.ok(one);
  world.keysOf(dnsResource, one);
  const paths = Array.from({ length: 1000 }, (_, n) => `/${n}=web:80`);
  const young = { creationTimestamp: '2026-02-01T00:00:00Z' };
  const many = world.put(dnsResource, makeDns('many', 'm.example', paths, young));
  const both = [`${namespace}/many`, key];
  assert.deepEqual([...world.keysOf(dnsResource, many)].sort(), both.sort());
  await world.reconcile(`${namespace}/many`);
  const reason = () => world.stored(dnsResource, `${namespace}/many`)?.status?.conditions?.[0]?.reason;
  assert.equal(reason(), 'TooManyPaths');
  world.sync(dnsResource);
  world.seen.remove(dnsResource, key);
  assert.deepEqual(world.keysOf(dnsResource, one), [key, `${namespace}/many`]);
  await world.reconcile(`${namespace}/many`);
  assert.equal(reason(), 'Routed');
});

test('an object with a host of another namespace names that namespace', async () => {
  world.put(nodeResource, serving('n1'));
  world.put(serviceResource, web);
  const first = { namespace: 'first', creationTimestamp: '2025-01-01T00:00:00Z' };
  world.put(dnsResource, makeDns('first', 'a.example', ['/x=web:80'], first));
  await world.reconcile(key);
  assert.equal(ready()?.reason, 'HostTaken');
  world.sync(dnsResource);
  world.seen.remove(dnsResource, 'first/first');
  await world.reconcile(key);
  assert.equal(ready()?.reason, 'Routed');
});

test('all objects are reconciled when a node changes its report, appears or disappears', () => {
  const silent = world.put(nodeResource, makeNode('n1'));
  assert.deepEqual(world.keysOf(nodeResource, silent), [key], 'it comes');
  assert.deepEqual(world.keysOf(nodeResource, silent), [], 'the Node reports the same');
  const heard = world.put(nodeResource, serving('n1'));
  assert.deepEqual(world.keysOf(nodeResource, heard), [key]);
  const labelled = world.put(nodeResource, {
    ...heard,
    metadata: { ...heard.metadata, labels: { zone: 'a' } },
  });
  assert.deepEqual(world.keysOf(nodeResource, labelled), []);
  world.seen.remove(nodeResource, 'n1');
  assert.deepEqual(world.keysOf(nodeResource, labelled), [key], 'it goes');
  assert.deepEqual(world.keysOf(nodeResource, labelled), []);
  world.put(nodeResource, labelled);
  assert.deepEqual(world.keysOf(nodeResource, labelled), [key], 'it comes again');
});

test('a changed status is written, and a problem has an event', async () => {
  world.put(nodeResource, serving('n1'));
  await world.reconcile(key);
  assert.deepEqual([ready()?.status, ready()?.lastTransitionTime], ['False', at(0)]);
  assert.equal(world.told.length, 1);
  assert.match(world.told[0] ?? '', /^Warning \w+ one: .*web/);
  world.sync(dnsResource);
  world.put(serviceResource, web);
  await world.reconcile(key);
  assert.deepEqual([ready()?.status, world.told.length], ['True', 1]);
  world.sync(dnsResource);
  const { length } = world.asked;
  await world.reconcile(key);
  assert.equal(world.asked.length, length, 'nothing is written that exists');
});

test('an object that is deleted or being deleted is skipped', async () => {
  await world.reconcile(`${namespace}/none`);
  const going = makeDns('going', 'b.example', ['/=web:80']);
  world.put(dnsResource, { ...going, metadata: { ...going.metadata, deletionTimestamp: at(0) } });
  await world.reconcile(`${namespace}/going`);
  assert.deepEqual(world.asked, []);
  // The Dns is removed, but still in the cache: there is no event about it.
  world.take(dnsResource, key);
  await world.reconcile(key);
  assert.deepEqual(world.told, []);
});
