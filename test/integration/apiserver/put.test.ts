/**
 * PUT of each kind: whether a resourceVersion is required, and whether PUT creates an object that does not
 * exist.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const lease = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { leaseDurationSeconds: 5 },
});

describe('PUT', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      authorize: ({ user, verb }) => user.name === 'changer' && verb === 'update',
    });
  });
  after(() => server.stop());

  const put = (path: string, body: object, user?: { name: string; groups: string[] }) =>
    server.call('PUT', path, body, user && { user });

  it('is rejected without a version for a kind that requires one, and a patch is not', async () => {
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const body = { metadata: { name: 'b' }, spec: { minAvailable: 1 } };
    const made = await server.call('POST', budgets, body);
    assert.equal(made.status, 201, made.text);
    for (const path of [`${budgets}/b`, `${budgets}/b/status`]) {
      for (const metadata of [{ name: 'b' }, { name: 'b', resourceVersion: '0' }]) {
        const refused = await put(path, { ...body, metadata });
        assert.equal(refused.status, 422, refused.text);
        assert.equal(
          refused.json<Status>().message,
          'poddisruptionbudgets.policy "b" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
        );
      }
    }
    const { metadata } = made.json();
    assert.equal((await put(`${budgets}/b`, { ...body, metadata })).status, 200);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patch = { metadata: { labels: { a: 'b' } } };
    assert.equal((await server.call('PATCH', `${budgets}/b`, patch, { headers })).status, 200);
    const maps = '/api/v1/namespaces/default/configmaps';
    assert.equal((await server.call('POST', maps, { metadata: { name: 'm' } })).status, 201);
    assert.equal((await put(`${maps}/m`, { metadata: { name: 'm' } })).status, 200);
  });

  it('creates an object of some kinds, with any resourceVersion, as a POST would', async () => {
    const made = await put(`${leases}/new`, lease('new', { resourceVersion: '5' }));
    assert.equal(made.status, 201, made.text);
    const { metadata } = made.json();
    assert.ok(metadata.uid && metadata.creationTimestamp && metadata.resourceVersion !== '5');
    assert.equal((await put(`${leases}/new`, lease('new', metadata))).status, 200);
    const dry = await put(`${leases}/dry?dryRun=All`, lease('dry'));
    assert.equal(dry.status, 201, dry.text);
    assert.equal((await server.call('GET', `${leases}/dry`)).status, 404);
    const service = await put('/api/v1/namespaces/default/services/s', {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    });
    assert.equal(service.status, 201, service.text);
    assert.match(service.text, /"clusterIP":"10\.96\./);
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/r';
    assert.equal((await put(role, { metadata: { name: 'r' }, rules: [] })).status, 201);
  });

  it('creates nothing for another uid, from an invalid object, or from another kind', async () => {
    for (const [path, body, status] of [
      [`${leases}/gone`, lease('gone', { uid: 'x' }), 409],
      [`${leases}/gone`, lease('other'), 400],
      [`${leases}/gone`, { metadata: { name: 'gone' }, spec: { leaseDurationSeconds: -1 } }, 422],
      ['/api/v1/namespaces/nowhere/limitranges/l', { metadata: { name: 'l' }, spec: { limits: [] } }, 404],
      ['/api/v1/namespaces/default/configmaps/gone', { metadata: { name: 'gone' } }, 404],
      ['/api/v1/namespaces/default/services/gone/status', { metadata: { name: 'gone' } }, 404],
    ] as const) {
      const answer = await put(path, body);
      assert.equal(answer.status, status, answer.text);
    }
  });

  it('creates nothing for users who may update objects but not create them', async () => {
    const user = { name: 'changer', groups: ['system:authenticated'] };
    const refused = await put(`${leases}/mine`, lease('mine'), user);
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /cannot create resource \\"leases\\" in API group/);
    assert.equal((await server.call('POST', leases, lease('mine'))).status, 201);
    const { metadata } = (await server.call('GET', `${leases}/mine`)).json();
    assert.equal((await put(`${leases}/mine`, lease('mine', metadata), user)).status, 200);
  });
});
