/** The holder of a port that several Services request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExternalHolders } from '../../../../../../src/api/core/v1/service/external-addresses.ts';
import type { Service } from '../../../../../../src/api/core/v1/service/service.ts';

const service = (name: string, { second = 1, uid = name, isServed = false }) =>
  ({
    metadata: { namespace: 'default', name, uid, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: isServed ? { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }] } : {} },
  }) as unknown as Service;

function holderOf(...services: readonly Service[]): string | undefined {
  const holders = new ExternalHolders((one) => (one ? ['TCP 80'] : []));
  for (const one of services) holders.replace(`default/${one.metadata.name}`, one);
  return holders.holder('TCP 80');
}

test('a Service that is served keeps its port beside one of the same second, whatever their uids are', () => {
  const served = service('served', { uid: 'b', isServed: true });
  const late = service('late', { uid: 'a' });
  assert.equal(holderOf(served, late), 'default/served');
  assert.equal(holderOf(late, served), 'default/served');
  // The status comes after the Service.
  assert.equal(holderOf(service('served', { uid: 'b' }), late, served), 'default/served');
});

test('of two Services of the same second that are not served, the first uid decides', () => {
  assert.equal(holderOf(service('b', {}), service('a', {})), 'default/a');
  assert.equal(holderOf(service('a', {}), service('b', {})), 'default/a');
});

test('an older Service gets the port from one that is served', () => {
  const young = service('young', { second: 2, isServed: true });
  assert.equal(holderOf(young, service('old', { second: 1 })), 'default/old');
});
