import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service } from '../../../../src/cli/describe/services.ts';

const balancer = (ipMode: string, ip = '192.0.2.7') => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: { type: 'LoadBalancer' },
  status: { loadBalancer: { ingress: [{ ip, ipMode }] } },
});
const announcedBy = (ipMode: string, leases: readonly object[]) =>
  service
    .lines(balancer(ipMode), (name) => ({ items: name === 'announced' ? (leases as never) : [] }), 0)
    .filter((line) => line.startsWith('Announced By'));

test('a Service with an address of the pool has the node that announces it', () => {
  assert.deepEqual(service.needs?.(balancer('VIP')).announced, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    namespace: 'kube-system',
    name: 'load-balancer.192.0.2.7',
  });
  const six = service.needs?.(balancer('VIP', '2001:db8::7')).announced;
  assert.equal((six as { name?: string } | undefined)?.name, 'load-balancer.2001-db8-0-0-0-0-0-7');
  assert.deepEqual(announcedBy('VIP', [{ spec: { holderIdentity: 'b' } }]), ['Announced By:\tb']);
  assert.deepEqual(announcedBy('VIP', [{ spec: {} }]), ['Announced By:\t<none>']);
});

test('a Service has no such line with addresses of nodes, or without the right to read the Lease', () => {
  assert.equal(service.needs?.(balancer('Proxy')).announced, undefined);
  assert.deepEqual(announcedBy('Proxy', []), []);
  assert.deepEqual(announcedBy('VIP', []), []);
});
