import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import type { Secret } from '../../../src/api/core/v1/secret.ts';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { bootstrapTokenAuthenticator } from '../../../src/kube-apiserver/authentication/bootstrap-token.ts';
import { authorityHash } from '../../../src/pki/authority-hash.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import { tokenCommand } from '../../../src/roles/token.ts';
import type { Cache } from '../../../src/storage/cache.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { runRoleCommand } from '../../fixtures/role-command.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const secrets = '/api/v1/namespaces/kube-system/secrets';

let server: HttpsTestServer;
let kubeconfig: string;
let ahead = 0;

before(async () => {
  let cache: Cache | undefined;
  server = await startHttpsTestServer({
    clock: systemClock,
    authenticate: unionAuthenticator([
      clientCertificateAuthenticator,
      (credentials) =>
        cache && bootstrapTokenAuthenticator({ cache, now: () => systemClock.now() + ahead })(credentials),
    ]),
  });
  cache = server.cache;
  kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
});
after(() => server.stop());

const token = (...args: readonly string[]) => runRoleCommand('token', tokenCommand, kubeconfig, args);

async function created(...args: readonly string[]): Promise<string> {
  const { status, out, err } = await token('create', ...args);
  assert.equal(status, 0, err);
  return /^token: (\S+)$/m.exec(out)?.[1] ?? '';
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function ask(bearer: string | undefined, method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        ca: server.authority.certificate,
        method,
        path,
        headers: {
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        },
      },
      async (incoming) => {
        let text = '';
        for await (const chunk of incoming) {
          text += chunk;
          if (path.includes('watch=')) break;
        }
        resolve({ status: incoming.statusCode ?? 0, text });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function certificateRequest(name: string, over: object = {}, node = 'n1') {
  const pem = await makeRequest(await makeKey(), {
    commonName: `system:node:${node}`,
    organizations: ['system:nodes'],
  });
  return {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['client auth', 'digital signature'],
      ...over,
    },
  };
}

describe('minik8s token', () => {
  it('prints the settings of a node: every master, the token, the hash of the authority', async () => {
    const { status, out } = await token('create', '--description', 'rack 4');
    assert.equal(status, 0);
    const lines = out.trimEnd().split('\n');
    assert.equal(lines[0], 'server: https://192.0.2.10:6443');
    assert.match(lines[1] ?? '', /^token: [a-z0-9]{6}\.[a-z0-9]{16}$/);
    assert.equal(lines[2], `ca-cert-hash: ${authorityHash(server.authority.certificate)}`);
    assert.equal(lines.length, 3);
  });

  it('prints a command that shows the token in no list of processes', async () => {
    const { out } = await token('create', '--print-join-command');
    const hash = authorityHash(server.authority.certificate);
    assert.match(
      out,
      /^MINIK8S_TOKEN=[a-z0-9]{6}\.[a-z0-9]{16} minik8s node --server https:\/\/192\.0\.2\.10:6443 --ca-cert-hash /,
    );
    assert.ok(out.endsWith(`${hash}\n`));
  });

  it('lists tokens without their secrets, and deletes them', async () => {
    const whole = await created('--ttl', '2h', '--description', 'for the list');
    const [id = '', secret = ''] = whole.split('.');
    const listed = await token('list');
    assert.match(listed.out, /^ID +TTL +EXPIRES +DESCRIPTION\n/);
    assert.match(listed.out, new RegExp(`^${id} +(119m|2h) +\\d{4}-.*Z +for the list$`, 'm'));
    assert.ok(!listed.out.includes(secret));
    assert.equal((await ask(whole, 'GET', '/api')).status, 200);
    assert.deepEqual(await token('delete', whole), { status: 0, out: `token ${id} deleted\n`, err: '' });
    assert.equal((await ask(whole, 'GET', '/api')).status, 401);
    const again = await token('delete', id);
    assert.deepEqual(again, {
      status: 1,
      out: '',
      err: `error: there is no token ${id}; minik8s token list shows all tokens\n`,
    });
  });

  it('creates a token that does not expire with --ttl 0', async () => {
    const [id = ''] = (await created('--ttl', '0')).split('.');
    assert.match((await token('list')).out, new RegExp(`^${id} +<forever> +<never> +<none>$`, 'm'));
  });

  for (const [args, message] of [
    [['create', '--ttl', 'soon'], '--ttl: expected a duration'],
    [['create', '--ttl', '5s'], '--ttl: expected at least 1m, or 0 for no expiration'],
    [['create', 'abc'], "unexpected argument 'abc'"],
    [['delete'], 'minik8s token delete: give the id of a token'],
    [['delete', 'no-token'], 'minik8s token delete: expected the id of a token'],
    [['burn'], 'unknown command burn'],
  ] as const) {
    it(`refuses ${args.join(' ')} with a message of one line`, async () => {
      const { status, err } = await token(...args);
      assert.equal(status, 2);
      assert.ok(err.includes(message) && err.split('\n').length === 2, err);
    });
  }
});

describe('minik8s token create by a user without the right', () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system';
  const as = async (user: string) => {
    const config = await server.kubeconfigFor(user, []);
    return runRoleCommand('token', tokenCommand, config, ['create']);
  };

  it('names the Secret that may not be created', async () => {
    const { status, out, err } = await as('alice');
    assert.deepEqual([status, out], [1, '']);
    assert.match(
      err,
      /^Error from server \(Forbidden\): cannot create a token: secrets is forbidden: User "alice" cannot create resource "secrets" in API group "" in the namespace "kube-system"/,
    );
  });

  it('stores no token when the addresses of the masters may not be read', async () => {
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }];
    const [apiGroup, name] = ['rbac.authorization.k8s.io', 'token-makers'];
    const binding = {
      metadata: { name },
      roleRef: { apiGroup, kind: 'Role', name },
      subjects: [{ apiGroup, kind: 'User', name: 'bob' }],
    };
    assert.equal((await server.call('POST', `${rbac}/roles`, { metadata: { name }, rules })).status, 201);
    assert.equal((await server.call('POST', `${rbac}/rolebindings`, binding)).status, 201);
    const count = async () =>
      (await server.call('GET', secrets)).json<{ readonly items: readonly Secret[] }>().items.length;
    const before = await count();
    await eventually(
      systemClock,
      'the role is granted',
      async () => !(await as('bob')).err.includes('secrets is forbidden'),
      60_000,
    );
    const { status, err } = await as('bob');
    assert.equal(status, 1);
    assert.match(
      err,
      /^Error from server \(Forbidden\): cannot read the addresses of the masters: endpointslices/,
    );
    assert.equal(await count(), before);
  });
});

describe('a bootstrap token', () => {
  it('is rejected when it is wrong, malformed or expired', async () => {
    const whole = await created('--ttl', '1h');
    const [id, secret = ''] = whole.split('.');
    const other = `${secret.startsWith('a') ? 'b' : 'a'}${secret.slice(1)}`;
    for (const shown of [
      `${id}.${other}`,
      `aaaaaa.${secret}`,
      `${id}.${secret}0`,
      `${id}.`,
      secret,
      `${id}`,
      `../${whole}`,
    ]) {
      assert.equal((await ask(shown, 'GET', '/api')).status, 401, shown);
    }
    assert.equal((await ask(whole, 'GET', '/api')).status, 200);
    ahead = 3600_000;
    assert.equal((await ask(whole, 'GET', '/api')).status, 401);
    ahead = 0;
  });

  for (const [title, change] of [
    ['does not allow authentication', { data: { 'usage-bootstrap-authentication': null } }],
    ['contains another id', { stringData: { 'token-id': 'zzzzzz' } }],
    ['has an invalid expiration', { stringData: { expiration: 'tomorrow' } }],
    [
      'has a group outside of system:bootstrappers:',
      { stringData: { 'auth-extra-groups': 'system:masters' } },
    ],
  ] as const) {
    it(`is rejected when its Secret ${title}`, async () => {
      const whole = await created();
      const path = `${secrets}/bootstrap-token-${whole.slice(0, 6)}`;
      const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
      assert.equal((await ask(whole, 'GET', '/api')).status, 200);
      assert.equal((await server.call('PATCH', path, change, merge)).status, 200);
      assert.equal((await ask(whole, 'GET', '/api')).status, 401);
    });
  }

  it('is rejected when its Secret is of another type', async () => {
    const whole = await created();
    const path = `${secrets}/bootstrap-token-${whole.slice(0, 6)}`;
    const secret = (await server.call('GET', path)).json<Secret>();
    await server.call('DELETE', path);
    const metadata = { name: secret.metadata.name };
    assert.equal((await server.call('POST', secrets, { ...secret, metadata, type: 'Opaque' })).status, 201);
    assert.equal((await ask(whole, 'GET', '/api')).status, 401);
  });

  it('may only request a certificate and read the result', async () => {
    const whole = await created();
    const other = await created();
    assert.equal((await ask(whole, 'POST', requests, await certificateRequest('mine'))).status, 201);
    assert.equal((await ask(other, 'POST', requests, await certificateRequest('theirs'))).status, 201);
    const mine = `${requests}/mine`;
    const watch = '?watch=true&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name%3D';
    const rows: readonly [string, string, number][] = [
      ['GET', mine, 200],
      ['GET', `${requests}/nothing`, 404],
      ['GET', `${requests}${watch}mine`, 200],
      ['GET', `${requests}?fieldSelector=metadata.name%3Dmine`, 200],
      ['GET', `${requests}/theirs`, 403],
      ['GET', `${requests}${watch}theirs`, 403],
      ['GET', `${requests}${watch}nothing`, 403],
      ['GET', `${requests}?fieldSelector=metadata.name%21%3Dtheirs`, 403],
      ['GET', requests, 403],
      ['GET', `${requests}?watch=true`, 403],
      ['GET', `${requests}?fieldSelector=spec.signerName%3Da`, 403],
      ['PUT', mine, 403],
      ['PATCH', mine, 403],
      ['DELETE', mine, 403],
      ['DELETE', requests, 403],
      ['PUT', `${mine}/approval`, 403],
      ['PATCH', `${mine}/approval`, 403],
      ['PUT', `${mine}/status`, 403],
      ['PATCH', `${mine}/status`, 403],
      ['GET', '/api/v1/nodes', 403],
      ['POST', '/api/v1/nodes', 403],
      ['GET', '/api/v1/pods', 403],
      ['GET', secrets, 403],
      ['GET', `${secrets}/bootstrap-token-${whole.slice(0, 6)}`, 403],
      ['GET', '/api/v1/namespaces', 403],
      ['POST', '/api/v1/namespaces/default/events', 403],
      ['POST', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', 403],
    ];
    for (const [method, path, status] of rows) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : { metadata: {} };
      const answer = await ask(whole, method, path, body);
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    }
  });

  it('may not request certificates of other signers, and may not approve its own', async () => {
    const whole = await created();
    const serving = await certificateRequest('s', { signerName: 'kubernetes.io/kubelet-serving' });
    const refused = await ask(whole, 'POST', requests, serving);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /a bootstrap token may only request certificates of/);
    const cheeky = {
      ...(await certificateRequest('cheeky', {
        username: 'system:admin',
        groups: ['system:masters'],
        extra: { a: ['b'] },
      })),
      status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'eA==' },
    };
    const answer = await ask(whole, 'POST', requests, cheeky);
    assert.equal(answer.status, 201);
    const { spec, status } = JSON.parse(answer.text);
    assert.equal(spec.username, `system:bootstrap:${whole.slice(0, 6)}`);
    assert.deepEqual(spec.groups, ['system:bootstrappers', 'system:authenticated']);
    assert.deepEqual(spec.extra, { 'minik8s.io/remote-address': ['127.0.0.1'] });
    assert.deepEqual(status, {});
  });
});
