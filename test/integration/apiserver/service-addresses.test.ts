import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const services = '/api/v1/namespaces/default/services';
let server: TestServer;
before(async () => {
  server = await startTestServer({ externalIPRanges: ['203.0.113.0/24', '10.0.0.0/8', '192.0.2.0/24'] });
  const node = { metadata: { name: 'n1' }, spec: {} };
  assert.equal((await server.call('POST', '/api/v1/nodes', node)).status, 201);
  const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.9' }] };
  const written = await server.call('PATCH', '/api/v1/nodes/n1/status', { status }, merge);
  assert.equal(written.status, 200, written.text);
  const lease = {
    metadata: { name: 'm1', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' } },
    spec: { holderIdentity: '192.0.2.7:6443' },
  };
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  assert.equal((await server.call('POST', leases, lease)).status, 201);
  // A node range outside of the range of all pods.
  const far = { metadata: { name: 'far' }, spec: { podCIDR: '10.9.3.0/24' } };
  assert.equal((await server.call('POST', '/api/v1/nodes', far)).status, 201);
});
after(() => server.stop());

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const create = (name: string, ...externalIPs: string[]) =>
  server.call('POST', services, { metadata: { name }, spec: { externalIPs, ports: [{ port: 80 }] } });

test('external IPs are refused with the name of the flag if no range is allowed', async () => {
  const closed = await startTestServer();
  try {
    const spec = { externalIPs: ['203.0.113.8'], ports: [{ port: 80 }] };
    const answer = await closed.call('POST', services, { metadata: { name: 'a' }, spec });
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /spec\.externalIPs\[0\].*--service-external-ip-ranges/);
  } finally {
    await closed.stop();
  }
});

test('an external IP in an allowed range is accepted, and an external IP outside of it is rejected', async () => {
  assert.equal((await create('inside', '203.0.113.8')).status, 201);
  assert.equal((await create('outside', '203.0.113.8', '198.51.100.1')).status, 403);
});

for (const [what, address] of [
  ['cluster IP of the API', '10.96.0.1'],
  ['pod address', '10.244.1.2'],
  ['node address', '192.0.2.9'],
  ['master address', '192.0.2.7'],
  ['pod address of a node with a range of its own', '10.9.3.8'],
] as const)
  test(`a ${what} is refused as an external IP although its range is allowed`, async () => {
    const answer = await create('thief', address);
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, /spec\.externalIPs\[0\]/);
  });

for (const [what, address] of [
  ['IPv6 with a dotted part', '::ffff:192.0.2.9'],
  ['IPv6', '::FFFF:c000:0209'],
  ['IPv6 in full', '0:0:0:0:0:ffff:c000:209'],
  ['leading zeros', '192.0.2.009'],
  ['a zone', '::ffff:192.0.2.9%eth0'],
  ['a blank', ' 192.0.2.9'],
] as const)
  test(`the address of a node in the spelling of ${what} is refused as an external IP`, async () => {
    assert.equal((await create('thief', address)).status, 422);
  });

test('a load balancer controller cannot assign the address of a node to a Service', async () => {
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
  assert.equal((await server.call('POST', services, { metadata: { name: 'lb' }, spec })).status, 201);
  const of = (ip: string) => ({ status: { loadBalancer: { ingress: [{ ip }] } } });
  assert.equal((await server.call('PATCH', `${services}/lb/status`, of('192.0.2.9'), merge)).status, 422);
  assert.equal((await server.call('PATCH', `${services}/lb/status`, of('203.0.113.9'), merge)).status, 200);
});

test('an existing external address of a Service is not checked again, so that other fields can be changed', async () => {
  const lb = { type: 'LoadBalancer', ports: [{ port: 80 }], externalIPs: ['192.0.2.44'] };
  assert.equal((await server.call('POST', services, { metadata: { name: 'old' }, spec: lb })).status, 201);
  const node = { metadata: { name: 'n44' }, spec: {} };
  assert.equal((await server.call('POST', '/api/v1/nodes', node)).status, 201);
  const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.44' }] };
  assert.equal((await server.call('PATCH', '/api/v1/nodes/n44/status', { status }, merge)).status, 200);
  const change = (spec: object) => server.call('PATCH', `${services}/old`, { spec }, merge);
  assert.equal((await change({ ports: [{ port: 81 }] })).status, 200);
  assert.equal((await change({ externalIPs: ['::ffff:c000:22c'] })).status, 200, 'in another spelling');
  const another = await change({ externalIPs: ['192.0.2.44', '192.0.2.9'] });
  assert.equal(another.status, 422);
  assert.match(another.text, /externalIPs\[1\]/);
  assert.doesNotMatch(another.text, /externalIPs\[0\]/);
});

test('an older Service of another namespace does not get an address and port that a Service has already', async () => {
  assert.equal((await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'bob' } })).status, 201);
  const spec = { externalIPs: ['203.0.113.77'], ports: [{ port: 80 }] };
  assert.equal((await create('older')).status, 201);
  const bobs = '/api/v1/namespaces/bob/services';
  assert.equal((await server.call('POST', bobs, { metadata: { name: 'web' }, spec })).status, 201);
  const take = (name: string, change: object) =>
    server.call('PATCH', `${services}/${name}`, { spec: change }, merge);
  const refused = await take('older', { externalIPs: spec.externalIPs });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /203\.0\.113\.77 TCP 80.*belongs to a Service of the namespace bob/);
  assert.equal((await create('new', '203.0.113.77')).status, 422);
  const other = { ports: [{ port: 81 }], externalIPs: spec.externalIPs };
  assert.equal((await take('older', other)).status, 200, 'another port of the address');
  assert.equal((await take('older', { ports: [{ port: 80 }] })).status, 422, 'by a port');
  assert.equal((await server.call('DELETE', `${bobs}/web`)).status, 200);
  assert.equal((await take('older', { ports: [{ port: 80 }] })).status, 200);
});

test('a Service may have at most a thousand pairs of an external address and a port', async () => {
  const ports = Array.from({ length: 100 }, (_, i) => ({ name: `p${i}`, port: 1000 + i }));
  const externalIPs = Array.from({ length: 11 }, (_, i) => `203.0.113.${100 + i}`);
  const make = (name: string, spec: object) => server.call('POST', services, { metadata: { name }, spec });
  const refused = await make('pairs', { ports, externalIPs });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /spec\.externalIPs: Invalid value: 1100/);
  assert.equal((await make('pairs', { ports, externalIPs: externalIPs.slice(1) })).status, 201);
  const grown = await server.call('PATCH', `${services}/pairs`, { spec: { externalIPs } }, merge);
  assert.equal(grown.status, 422, grown.text);
  const ingress = externalIPs.map((ip) => ({ ip }));
  const balanced = { type: 'LoadBalancer', ports };
  assert.equal((await make('balanced', balanced)).status, 201);
  const status = { loadBalancer: { ingress } };
  const given = await server.call('PATCH', `${services}/balanced/status`, { status }, merge);
  assert.equal(given.status, 422, given.text);
});
