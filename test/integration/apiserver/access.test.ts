import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const nobody: UserInfo = { name: 'bob', groups: ['system:authenticated'] };
const pods = '/api/v1/namespaces/default/pods';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

describe('authentication', () => {
  let server: TestServer;
  const time = { now: 1000 };
  before(async () => {
    const entries = [
      { token: 'good', user: { name: 'root', groups: ['system:masters'] } },
      { token: 'brief', user: { name: 'root', groups: ['system:masters'] }, expires: 2000 },
    ];
    server = await startTestServer({
      authenticate: unionAuthenticator([
        clientCertificateAuthenticator,
        bearerTokenAuthenticator(
          () => entries,
          () => time.now,
        ),
      ]),
    });
  });
  after(() => server.stop());

  const ask = async (path: string, authorization?: string, env = {}) => {
    const headers = authorization ? { authorization } : undefined;
    return server.app.fetch(new Request(`https://x${path}`, { ...(headers && { headers }) }), env);
  };

  it('allows anyone to read health and version', async () => {
    for (const path of ['/livez', '/readyz', '/healthz', '/version', '/livez/ping', '/readyz?verbose']) {
      assert.equal((await ask(path)).status, 200, path);
    }
  });

  it('rejects all other users', async () => {
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/openapi/v2',
      '/api/v1/pods',
      '/metrics',
      '/nope',
      '/livez/x/y',
    ]) {
      const answer = await ask(path);
      assert.equal(answer.status, 401, path);
      assert.equal(((await answer.json()) as Status).reason, 'Unauthorized');
    }
  });

  for (const [authorization, code] of [
    ['Bearer good', 200],
    ['bearer  good ', 200],
    ['Bearer goo', 401],
    ['Bearer goodd', 401],
    ['Bearer ', 401],
    ['Basic good', 401],
    ['good', 401],
  ] as const) {
    it(`answers ${code} to "${authorization}"`, async () => {
      assert.equal((await ask('/api/v1/pods', authorization)).status, code);
    });
  }

  it('rejects a token after its expiry', async () => {
    assert.equal((await ask('/api', 'Bearer brief')).status, 200);
    time.now = 2000;
    assert.equal((await ask('/api', 'Bearer brief')).status, 401);
  });

  it('uses the subject of a verified certificate', async () => {
    const peer = (organizations: string[]) => ({ peer: { commonName: 'alice', organizations } });
    assert.equal((await ask('/api/v1/pods', undefined, peer(['system:masters']))).status, 200);
    const refused = await ask('/api/v1/pods', undefined, peer([]));
    assert.equal(refused.status, 403);
    assert.equal(
      ((await refused.json()) as Status).message,
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope',
    );
  });
});

describe('authorization', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    for (const [name, nodeName] of [
      ['mine', 'n1'],
      ['theirs', 'n2'],
      ['free', undefined],
    ] as const) {
      await server.call('POST', pods, { metadata: { name }, spec });
      if (nodeName) await server.call('POST', `${pods}/${name}/binding`, { target: { name: nodeName } });
    }
    for (const name of ['n1', 'n2']) await server.call('POST', '/api/v1/nodes', { metadata: { name } });
    await server.call('POST', leases, { metadata: { name: 'n2' } });
  });
  after(() => server.stop());

  it('states which user may not do which action, and where', async () => {
    const answer = await server.call('GET', `${pods}/mine`, undefined, { user: nobody });
    assert.equal(answer.status, 403);
    const status = answer.json<Status>();
    assert.equal(
      status.message,
      'pods "mine" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "default"',
    );
    assert.deepEqual(status.details, { name: 'mine', kind: 'pods' });
    const path = await server.call('GET', '/metrics', undefined, { user: nobody });
    assert.equal(path.json<Status>().message, 'forbidden: User "bob" cannot get path "/metrics"');
    assert.equal((await server.call('GET', '/apis', undefined, { user: nobody })).status, 200);
  });

  const merge = { 'content-type': 'application/merge-patch+json' };
  const cases: readonly [string, string, unknown, number][] = [
    // The part of pods of other nodes that is shown: node-pod-addresses.test.ts.
    ['GET', '/api/v1/pods', undefined, 200],
    ['GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1', undefined, 200],
    ['GET', '/api/v1/secrets', undefined, 403],
    ['GET', '/apis/discovery.k8s.io/v1/endpointslices', undefined, 200],
    ['GET', '/apis/apps/v1/deployments', undefined, 403],
    // A node may create the mirror pods of its static pods, and no other.
    ['POST', pods, { metadata: { name: 'x' }, spec: { containers: [{ name: 'a', image: 'b' }] } }, 403],
    ['PATCH', `${pods}/mine`, { metadata: { labels: { a: 'b' } } }, 403],
    ['PATCH', `${pods}/mine/status`, { status: { phase: 'Running' } }, 200],
    ['PATCH', `${pods}/theirs/status`, { status: { phase: 'Running' } }, 403],
    ['PATCH', `${pods}/free/status`, { status: { phase: 'Running' } }, 403],
    ['PATCH', `${pods}/gone/status`, { status: { phase: 'Running' } }, 404],
    ['POST', `${pods}/mine/binding`, { target: { name: 'n2' } }, 403],
    ['DELETE', `${pods}/theirs`, undefined, 403],
    ['DELETE', `${pods}/mine`, { gracePeriodSeconds: 0 }, 200],
    ['DELETE', pods, undefined, 403],
    ['PATCH', '/api/v1/nodes/n1/status', { status: { phase: 'x' } }, 200],
    ['PATCH', '/api/v1/nodes/n2/status', { status: {} }, 403],
    ['PATCH', '/api/v1/nodes/n1', { metadata: { labels: { a: 'b' } } }, 200],
    ['PATCH', '/api/v1/nodes/n2', { metadata: { labels: { a: 'b' } } }, 403],
    ['DELETE', '/api/v1/nodes/n1', undefined, 403],
    ['POST', '/api/v1/nodes', { metadata: { name: 'n3' } }, 403],
    ['POST', '/api/v1/nodes', { metadata: { name: 'n1' } }, 409],
    ['POST', leases, { metadata: { name: 'n1' } }, 201],
    ['POST', leases, { metadata: { name: 'n3' } }, 403],
    ['GET', `${leases}/n1`, undefined, 200],
    ['PATCH', `${leases}/n2`, { spec: {} }, 403],
    ['POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'n1' } }, 403],
    ['POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'x' } }, 403],
    [
      'POST',
      '/api/v1/namespaces/default/events',
      {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'gone' },
        source: { host: 'n1' },
      },
      403,
    ],
  ];
  for (const [method, path, body, code] of cases) {
    it(`a node agent gets ${code} for ${method} ${path} ${JSON.stringify(body) ?? ''}`, async () => {
      const headers = method === 'PATCH' ? merge : {};
      const answer = await server.call(method, path, body, { user: node, headers });
      assert.equal(answer.status, code, answer.text);
    });
  }

  it('recognizes a node agent only by name and group together', async () => {
    for (const user of [
      { name: 'system:node:n1', groups: [] },
      { name: 'n1', groups: ['system:nodes'] },
      { name: 'system:node:', groups: ['system:nodes'] },
    ]) {
      assert.equal((await server.call('GET', '/api/v1/pods', undefined, { user })).status, 403);
    }
  });
});
