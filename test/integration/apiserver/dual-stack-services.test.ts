/** Services of a cluster with a range of each family: addresses, changes of the policy, claims. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const services = '/api/v1/namespaces/default/services';

describe('services of two families', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ serviceCIDR: '10.96.0.0/16,fd00:10:96::/112' });
  });
  after(() => server.stop());

  const create = (name: string, spec: object) =>
    server.call('POST', services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  const made = async (name: string, spec: object) => {
    const answer = await create(name, spec);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Service>().spec;
  };
  const patch = (name: string, spec: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return server.call('PATCH', `${services}/${name}`, { spec }, { headers });
  };
  const patched = async (name: string, spec: object) => {
    const answer = await patch(name, spec);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<Service>().spec;
  };

  it('have one address of the first family by default', async () => {
    const { clusterIPs, ipFamilies, ipFamilyPolicy } = await made('usual', {});
    assert.match(clusterIPs?.join() ?? '', /^10\.96\.\d+\.\d+$/);
    assert.deepEqual([ipFamilies, ipFamilyPolicy], [['IPv4'], 'SingleStack']);
  });

  it('have the families and the order that they request', async () => {
    const { clusterIP, clusterIPs } = await made('reversed', {
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
    });
    assert.match(clusterIPs?.join() ?? '', /^fd00:10:96::[0-9a-f]{3,4},10\.96\.\d+\.\d+$/);
    assert.equal(clusterIP, clusterIPs?.[0]);
  });

  it('gain and lose their second address with the policy, while the first one stays', async () => {
    const before = await made('changing', {});
    const dual = await patched('changing', { ipFamilyPolicy: 'PreferDualStack' });
    assert.deepEqual(dual.ipFamilies, ['IPv4', 'IPv6']);
    assert.equal(dual.clusterIPs?.[0], before.clusterIP);
    const second = dual.clusterIPs?.[1] ?? '';
    const taken = await create('taken', { clusterIP: second });
    assert.match(taken.text, /provided IP is already allocated/);
    // An update that does not concern the addresses keeps both.
    assert.deepEqual((await patched('changing', { ports: [{ port: 81 }] })).clusterIPs, dual.clusterIPs);
    const refused = await patch('changing', { clusterIPs: [before.clusterIP] });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /must be 'SingleStack' to release the secondary cluster IP/);
    const single = await patched('changing', { ipFamilyPolicy: 'SingleStack' });
    assert.deepEqual([single.clusterIPs, single.ipFamilies], [before.clusterIPs, ['IPv4']]);
    await made('taken', { clusterIP: second });
  });

  it('without a selector and an address have both families', async () => {
    const { ipFamilies, ipFamilyPolicy } = await made('open', { clusterIP: 'None' });
    assert.deepEqual([ipFamilies, ipFamilyPolicy], [['IPv4', 'IPv6'], 'RequireDualStack']);
  });

  it('may change between a headless one of two families and a name elsewhere', async () => {
    await made('name', { type: 'ExternalName', externalName: 'example.com', ports: [] });
    const { ipFamilies } = await patched('name', {
      type: 'ClusterIP',
      ipFamilyPolicy: 'RequireDualStack',
      externalName: null,
      ports: [{ port: 80 }],
    });
    assert.deepEqual(ipFamilies, ['IPv4', 'IPv6']);
  });
});
