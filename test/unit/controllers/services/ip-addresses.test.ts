/** The IPAddresses of the cluster IPs of Services. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Service, serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { type IPAddress, ipAddressResource as kind } from '../../../../src/api/networking/v1/ip-address.ts';
import {
  ipAddressesController,
  ipAddressesRights,
} from '../../../../src/controllers/services/ip-addresses.ts';
import { meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const service = (name: string, spec: object) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: meta(name) },
    spec: { type: 'ClusterIP', ...spec },
  }) as unknown as Service;
const web = service('web', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00:0:0::7'] });
const managed = {
  'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  'ipaddress.kubernetes.io/ip-family': 'IPv4',
};
const ofWeb = { group: '', resource: 'services', namespace: 'default', name: 'web' };
const address = (parentRef: object, labels: Record<string, string> = managed) =>
  ({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', spec: { parentRef } },
    metadata: { ...meta('10.96.0.7', { labels }), namespace: undefined },
  }) as unknown as IPAddress;
const start = () => new ScriptedWorld(ipAddressesController, 0, [ipAddressesRights]);

describe('an IPAddress', () => {
  it('is made for each address of a Service, with its family and the Service', async () => {
    const world = start();
    world.put(serviceResource, web);
    const keys = world.keysOf(serviceResource, web);
    assert.deepEqual(keys, ['10.96.0.7', 'fd00::7']);
    for (const key of keys) await world.reconcile(key);
    assert.deepEqual(
      world.all(kind).map(({ metadata, spec }) => [metadata.name, metadata.labels, spec.parentRef]),
      [
        ['10.96.0.7', managed, ofWeb],
        ['fd00::7', { ...managed, 'ipaddress.kubernetes.io/ip-family': 'IPv6' }, ofWeb],
      ],
    );
  });

  for (const [what, spec] of [
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['external', { type: 'ExternalName', externalName: 'a.example' }],
    ['without an address', {}],
  ] as const)
    it(`is not made for a Service that is ${what}`, () => {
      assert.deepEqual(start().keysOf(serviceResource, service('x', spec)), []);
    });

  const cases: [what: string, existing: IPAddress, holder: Service | undefined, stays: boolean][] = [
    ['of the Service that has the address', address(ofWeb), web, true],
    ['of a Service that is gone', address(ofWeb), undefined, false],
    ['of another Service', address({ ...ofWeb, name: 'old' }), web, false],
    ['of another namespace', address({ ...ofWeb, namespace: 'old' }), web, false],
    ['without labels, of the Service', address(ofWeb, {}), web, false],
    ['that somebody else made, of no Service', address(ofWeb, {}), undefined, true],
    ['of another kind', address({ resource: 'things', name: 'a' }, {}), web, true],
  ];
  for (const [what, existing, holder, stays] of cases)
    it(`${what} ${stays ? 'is kept' : 'is deleted'}`, async () => {
      const world = start();
      world.put(kind, existing);
      if (holder) world.put(serviceResource, holder);
      await world.reconcile('10.96.0.7');
      assert.equal(world.stored(kind, '10.96.0.7') !== undefined, stays);
    });

  it('is made again after a deletion', async () => {
    const world = start();
    world.put(serviceResource, web);
    assert.deepEqual(world.keysOf(kind, address(ofWeb)), ['10.96.0.7']);
    await world.reconcile('10.96.0.7');
    await world.reconcile('10.96.0.7');
    assert.equal(world.all(kind).length, 1);
  });
});
