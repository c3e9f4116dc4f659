/** Permissions that are required to run programs in a node's pods through nodes/NAME/proxy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';
/** Headers that start a WebSocket. */
const headers = { 'sec-websocket-protocol': 'v5.channel.k8s.io', upgrade: 'websocket' };

let server: TestServer;
before(async () => {
  server = await startTestServer();
  assert.equal((await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })).status, 201);
  for (const [name, verbs] of [
    ['reader', ['get']],
    ['runner', ['get', 'create']],
  ] as const) {
    const rules = [{ apiGroups: [''], resources: ['nodes/proxy'], verbs }];
    const subjects = [{ kind: 'User', name, apiGroup: group }];
    const roleRef = { kind: 'ClusterRole', name, apiGroup: group };
    const metadata = { name };
    const role = await server.call('POST', `${rbac}/clusterroles`, { metadata, rules });
    assert.equal(role.status, 201, role.text);
    const binding = await server.call('POST', `${rbac}/clusterrolebindings`, { metadata, subjects, roleRef });
    assert.equal(binding.status, 201, binding.text);
  }
  await server.clock.advance(10);
});
after(() => server.stop());

const ask = async (name: string, path: string, isUpgrade: boolean) => {
  const upgrade = { headers, switchTo: () => assert.fail('there is no node to connect to') };
  const request = new Request(`https://apiserver/api/v1/nodes/n/proxy${path}`);
  const user = { name, groups: ['system:authenticated'] };
  const answer = await server.app.fetch(request, { user, ...(isUpgrade && { upgrade }) });
  return { status: answer.status, text: await answer.text() };
};

test('a user with get on nodes/proxy reads, and opens no upgraded connection', async () => {
  // No agent is reachable here.
  assert.equal((await ask('reader', '/pods', false)).status, 503);
  for (const path of [
    '/exec/default/web/c?command=id',
    '/attach/default/web/c',
    '/%65xec/default/web/c',
    '/',
  ]) {
    const { status, text } = await ask('reader', path, true);
    assert.equal(status, 403, path);
    assert.match(text, /need the verb create on nodes\/proxy/);
  }
});

test('a user with only get on nodes/proxy opens no connection with another node name, method or protocol', async () => {
  const asked = async (method: string, name: string, protocol: string) => {
    const upgrade = {
      headers: { ...headers, upgrade: protocol },
      switchTo: () => assert.fail('there is no node to connect to'),
    };
    const path = `/api/v1/nodes/${name}/proxy/exec/default/web/c?command=id`;
    const request = new Request(`https://apiserver${path}`, { method });
    const user = { name: 'reader', groups: ['system:authenticated'] };
    return (await server.app.fetch(request, { user, upgrade })).status;
  };
  for (const name of ['n', 'n:10250', 'https:n:10250', 'https:n:', 'http:n:10255', '%6e'])
    assert.equal(await asked('GET', name, 'websocket'), 403, name);
  for (const protocol of ['WebSocket', 'SPDY/3.1', 'h2c', 'tcp', ''])
    assert.equal(await asked('GET', 'n', protocol), 403, protocol);
  for (const method of ['HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])
    assert.equal(await asked(method, 'n', 'websocket'), 403, method);
});

test('a user with create on nodes/proxy opens an upgraded connection', async () => {
  assert.equal((await ask('runner', '/exec/default/web/c?command=id', true)).status, 503);
});
