/** Impersonation on real connections: who may impersonate whom, and which user a request then counts for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import {
  binding,
  clusterRoleBindings,
  clusterRoles,
  type Rule,
  roleBindingsIn,
  rolesIn,
  rule,
  user,
} from './rbac-world.ts';

let server: HttpsTestServer;
const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const pods = '/api/v1/namespaces/a/pods';
const authentication = 'authentication.k8s.io';

before(async () => {
  server = await startHttpsTestServer();
  const make = async (path: string, body: object) => {
    const made = await server.call('POST', path, body);
    assert.equal(made.status, 201, made.text);
  };
  const grant = async (namespace: string, name: string, rules: readonly Rule[]) => {
    await make(namespace ? rolesIn(namespace) : clusterRoles, { metadata: { name }, rules });
    const to = binding(`${namespace ? 'Role' : 'ClusterRole'}/${name}`, name, user(name));
    await make(namespace ? roleBindingsIn(namespace) : clusterRoleBindings, to);
  };
  await make('/api/v1/namespaces', { metadata: { name: 'a' } });
  await grant('a', 'reader', [rule('list pods'), rule('get pods/exec,pods/proxy')]);
  await grant('', 'actor', [
    rule('impersonate users reader,actor'),
    rule('impersonate groups team'),
    rule('impersonate uids 7', authentication),
    rule('impersonate userextras/scopes read', authentication),
  ]);
  await grant('a', 'keeper', [rule('impersonate serviceaccounts')]);
  await grant('', 'all', [rule('impersonate users,groups')]);
  await server.cache.waitUntil(await server.store.currentRevision());
});
after(() => server.stop());

/** Sends one request exactly as written. Returns the status and the raw text of the answer. */
async function raw(
  who: string,
  lines: readonly string[],
  body = '',
): Promise<{ status: number; text: string }> {
  const identity = who
    ? await server.clientCertificate(who, who === 'root' ? ['system:masters'] : [])
    : undefined;
  const tls = identity && { key: identity.key, cert: identity.certificate };
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: server.authority.certificate, ...tls });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const length = body ? [`Content-Length: ${body.length}`, 'Content-Type: application/json'] : [];
  const last = lines.some((line) => /^connection:/i.test(line)) ? [] : ['Connection: close'];
  socket.write(
    Buffer.from(
      [...lines.slice(0, 1), 'Host: a', ...lines.slice(1), ...length, ...last, '', body].join('\r\n'),
      'latin1',
    ),
  );
  let text = '';
  for await (const chunk of socket) text += chunk;
  return { status: Number(text.split(' ')[1] ?? 0), text };
}
const get = (who: string, path: string, ...headers: string[]) =>
  raw(who, [`GET ${path} HTTP/1.1`, ...headers]);
const ask = async (who: string, ...headers: string[]) => {
  const { status, text } = await raw(who, [`POST ${whoami} HTTP/1.1`, ...headers], '{}');
  assert.equal(status, 201, text);
  const { extra, ...info } = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).status
    .userInfo;
  // The server, not the client, sets the address of a request.
  const { 'minik8s.io/remote-address': _, ...own } = extra ?? {};
  return { ...info, ...(Object.keys(own).length > 0 && { extra: own }) };
};
const known = 'system:authenticated';

describe('a request that impersonates a user', () => {
  test("is answered as the impersonated user, with that user's rights alone", async () => {
    assert.deepEqual(await ask('actor', 'Impersonate-User: reader'), { username: 'reader', groups: [known] });
    assert.equal((await get('actor', pods)).status, 403);
    assert.equal((await get('actor', pods, 'Impersonate-User: reader')).status, 200);
    assert.equal(
      (await get('root', pods, 'Impersonate-User: nobody')).status,
      403,
      'the rights of the administrator do not apply',
    );
    assert.match((await get('root', pods, 'impersonate-USER: nobody')).text, /User \\"nobody\\" cannot list/);
    assert.deepEqual(
      await ask(
        'actor',
        'Impersonate-User: reader',
        'Impersonate-Group: team',
        'Impersonate-Uid: 7',
        'Impersonate-Extra-Scopes: read',
      ),
      { username: 'reader', uid: '7', groups: ['team', known], extra: { scopes: ['read'] } },
    );
  });

  test('can act as a service account only in the namespaces in which the sender may impersonate', async () => {
    const account = (namespace: string) => `Impersonate-User: system:serviceaccount:${namespace}:default`;
    assert.deepEqual(await ask('keeper', account('a')), {
      username: 'system:serviceaccount:a:default',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a', known],
    });
    assert.equal((await get('keeper', pods, account('kube-system'))).status, 403);
    assert.match(
      (await get('keeper', pods, account('kube-system'))).text,
      /cannot impersonate resource \\"serviceaccounts\\" in API group \\"\\" in the namespace \\"kube-system\\"/,
    );
  });

  test('counts as a connection of the sender, not of the impersonated user', async () => {
    const counted: string[] = [];
    const belongsTo = (name: string) => counted.push(name) > 1;
    const headers = { 'Impersonate-User': 'reader' };
    const call = () =>
      server.app.fetch(new Request(`https://x${pods}`, { headers }), {
        peer: { commonName: 'actor', organizations: [] },
        belongsTo,
      });
    assert.equal((await call()).status, 429);
    assert.equal((await call()).status, 200);
    assert.deepEqual(counted, ['actor', 'actor']);
  });

  test('writes with the rights of the impersonated user', async () => {
    const body = JSON.stringify({ metadata: { name: 'x' } });
    const lines = ['POST /api/v1/namespaces HTTP/1.1', 'Impersonate-User: reader'];
    const { status, text } = await raw('root', lines, body);
    assert.equal(status, 403, text);
    assert.match(text, /User \\"reader\\" cannot create/);
    assert.equal((await server.call('GET', '/api/v1/namespaces/x')).status, 404);
  });
});

describe('a request to impersonate', () => {
  const cases: readonly [title: string, who: string, headers: readonly string[], status: number][] = [
    ['a user that the right does not include', 'actor', ['Impersonate-User: root'], 403],
    ['administrators', 'actor', ['Impersonate-User: reader', 'Impersonate-Group: system:masters'], 403],
    [
      'administrators, after an allowed group',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Group: team', 'impersonate-group: system:masters'],
      403,
    ],
    [
      'administrators in one header with another group',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Group: team, system:masters'],
      403,
    ],
    [
      'administrators in capitals',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Group: System:Masters'],
      403,
    ],
    [
      'administrators in percent-encoding',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Group: system%3Amasters'],
      403,
    ],
    [
      'administrators in other Unicode letters',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Group: system\uFF1Amasters'],
      403,
    ],
    ['a user whose name is written in another case', 'actor', ['Impersonate-User: Reader'], 403],
    ['a node', 'actor', ['Impersonate-User: system:node:n1', 'Impersonate-Group: system:nodes'], 403],
    [
      'the group of nodes with an allowed name',
      'actor',
      ['Impersonate-User: actor', 'Impersonate-Group: system:nodes'],
      403,
    ],
    ['the scheduler', 'actor', ['Impersonate-User: system:kube-scheduler'], 403],
    [
      'a service account',
      'actor',
      ['Impersonate-User: system:serviceaccount:kube-system:generic-garbage-collector'],
      403,
    ],
    ['another uid', 'actor', ['Impersonate-User: reader', 'Impersonate-Uid: 8'], 403],
    [
      'another value of an extra field',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Extra-scopes: write'],
      403,
    ],
    [
      'an additional value of an extra field',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Extra-scopes: read', 'Impersonate-Extra-SCOPES: write'],
      403,
    ],
    ['another extra field', 'actor', ['Impersonate-User: reader', 'Impersonate-Extra-scope: read'], 403],
    [
      'an extra field with the name of a subresource',
      'actor',
      ['Impersonate-User: reader', 'Impersonate-Extra-scopes%2fx: read'],
      403,
    ],
    [
      'another user, from a user without any right to impersonate',
      'reader',
      ['Impersonate-User: actor'],
      403,
    ],
    ['the sender itself, without the right to impersonate', 'reader', ['Impersonate-User: reader'], 403],
    ['a group without a user', 'actor', ['Impersonate-Group: team'], 400],
    ['an empty name', 'actor', ['Impersonate-User:'], 400],
    ['a name that consists of spaces', 'actor', ['Impersonate-User:   '], 400],
    ['two users', 'actor', ['Impersonate-User: reader', 'Impersonate-User: root'], 400],
    ['with an unknown header', 'actor', ['Impersonate-Usr: reader'], 400],
    ['a user, from a client without an identity', '', ['Impersonate-User: reader'], 401],
  ];
  for (const [title, who, headers, status] of cases)
    test(`${title} is answered with ${status}`, async () => {
      const encoded = headers.map((line) => Buffer.from(line).toString('latin1'));
      for (const path of [pods, '/api', '/version', '/livez', '/openapi/v2', '/nope']) {
        const answer = await get(who, path, ...encoded);
        assert.equal(answer.status, status, `${path}: ${answer.text}`);
        // kubectl displays plain text only for a path that is no resource.
        if (status !== 401) assert.match(answer.text, path === pods ? /application\/json/ : /text\/plain/);
      }
      const socket = ['Connection: Upgrade', 'Upgrade: websocket', ...encoded];
      for (const path of [`${pods}/x/exec?command=y`, `${pods}/x/proxy/`, '/api/v1/nodes/n/proxy/'])
        assert.equal((await get(who, path, ...socket)).status, status, path);
    });

  test('a service account is refused although the sender may impersonate all users', async () => {
    assert.equal((await get('all', pods, 'Impersonate-User: system:serviceaccount:a:default')).status, 403);
    assert.equal(
      (await get('all', pods, 'Impersonate-User: root', 'Impersonate-Group: system:masters')).status,
      200,
    );
  });

  test('is not ignored if its header follows too many other headers', async () => {
    const many = Array(3000).fill('a: b');
    const { status } = await get('root', pods, ...many, 'Impersonate-User: nobody');
    assert.notEqual(status, 200);
  });
});

test('an upgraded connection belongs to the impersonated user', async () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Impersonate-User: reader'];
  assert.equal(
    (await get('actor', `${pods}/x/exec?command=y`, ...upgrade)).status,
    404,
    'allowed, and no such pod',
  );
  assert.equal((await get('actor', `${pods}/x/attach`, ...upgrade)).status, 403);
  assert.equal((await get('root', `${pods}/x/attach`, ...upgrade)).status, 403);
});
