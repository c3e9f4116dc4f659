/** New ServiceCIDRs beside the addresses that a cluster has already. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const path = '/apis/networking.k8s.io/v1/servicecidrs';

describe('a ServiceCIDR', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ externalIPRanges: ['198.51.100.0/24', '203.0.113.0/24'] });
    const node = await server.call('POST', '/api/v1/nodes', {
      metadata: { name: 'n' },
      spec: { podCIDR: '10.9.1.0/24', podCIDRs: ['10.9.1.0/24'] },
      status: {
        addresses: [
          { type: 'InternalIP', address: '192.0.2.7' },
          { type: 'InternalIP', address: '2001:db8::7' },
          { type: 'Hostname', address: 'n' },
        ],
      },
    });
    assert.equal(node.status, 201, node.text);
    await server.clock.advance(1_000);
  });
  after(() => server.stop());
  const make = (name: string, ...cidrs: string[]) =>
    server.call('POST', path, { metadata: { name }, spec: { cidrs } });

  for (const [range, what] of [
    ['192.0.2.0/28', 'the address 192.0.2.7 of node n'],
    ['2001:db8::/64', 'the address 2001:db8::7 of node n'],
    ['10.0.0.0/8', 'addresses of the range of pods, 10.244.0.0/16'],
    ['10.9.1.128/25', 'pods of node n, 10.9.1.0/24'],
  ] as const)
    it(`with the range ${range} is rejected, since it contains ${what}`, async () => {
      const { status, text } = await make('x', range);
      assert.equal(status, 422, text);
      assert.ok(text.includes(`contains ${what}`), text);
    });

  it('beside these addresses is created, and may get a second family that is free', async () => {
    assert.equal((await make('free', '192.0.2.16/28')).status, 201);
    const grow = (second: string) =>
      server.call(
        'PATCH',
        `${path}/free`,
        { spec: { cidrs: ['192.0.2.16/28', second] } },
        { headers: { 'content-type': 'application/merge-patch+json' } },
      );
    assert.equal((await grow('2001:db8::/64')).status, 422);
    assert.equal((await grow('2001:db8:1::/64')).status, 200);
  });

  it('keeps the external addresses of Services out of its range', async () => {
    const create = (externalIP: string) =>
      server.call('POST', '/api/v1/namespaces/default/services', {
        metadata: { generateName: 's-' },
        spec: { ports: [{ port: 80 }], externalIPs: [externalIP] },
      });
    assert.equal((await make('kept', '198.51.100.0/24')).status, 201);
    await server.clock.advance(1_000);
    const refused = await create('198.51.100.7');
    assert.match(refused.text, /in the range of Services, 198\.51\.100\.0\/24: no Service may use it/);
    assert.equal((await create('203.0.113.7')).status, 201);
  });
});
