/** Host names that a user who may write Dns objects can claim for the whole cluster. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';

const dnses = '/apis/minik8s.io/v1/namespaces/default/dnses';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
let server: TestServer;
before(async () => {
  server = await startTestServer({ 'dns-domains': ['example', 'corp.com'] });
  for (const name of ['vm1.example', 'n2'])
    assert.equal((await server.call('POST', '/api/v1/nodes', { metadata: { name }, spec: {} })).status, 201);
  const status = { addresses: [{ type: 'Hostname', address: 'two.corp.com' }] };
  assert.equal((await server.call('PATCH', '/api/v1/nodes/n2/status', { status }, merge)).status, 200);
});
after(() => server.stop());

const paths = [{ path: '/', serviceName: 'web', servicePort: 80 }];
const create = (name: string, host: string, on = server) =>
  on.call('POST', dnses, { metadata: { name }, spec: { host, paths } });

test('a host below an allowed domain is accepted', async () => {
  assert.equal((await create('shop', 'shop.corp.com')).status, 201);
});

for (const [what, host] of [
  ['a public host name', 'deb.debian.org'],
  ['single label', 'kubernetes'],
  ['domain itself', 'corp.com'],
  ['the name of a node', 'vm1.example'],
  ['a host name in the addresses of a node', 'two.corp.com'],
  ['a name of the cluster', 'web.default.svc.cluster.local'],
] as const)
  test(`${what} is refused`, async () => {
    const answer = await create('thief', host);
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, /spec\.host/);
  });

test('an update, patch or apply that adds a refused host is rejected, and other changes of the object are accepted', async () => {
  assert.equal((await create('own', 'own.example')).status, 201);
  const patch = (body: object) => server.call('PATCH', `${dnses}/own`, body, merge);
  assert.equal((await patch({ spec: { host: 'deb.debian.org' } })).status, 422);
  const applied = {
    apiVersion: 'minik8s.io/v1',
    kind: 'Dns',
    metadata: { name: 'own' },
    spec: { host: 'kubernetes', paths },
  };
  const apply = await server.call('PATCH', `${dnses}/own?fieldManager=x&force=true`, applied, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  assert.equal(apply.status, 422, apply.text);
  assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 200);
  assert.equal(
    (await server.call('GET', `${dnses}/own`)).json<{ spec: { host: string } }>().spec.host,
    'own.example',
  );
});

test('a host belongs to a namespace until the last object of that namespace is deleted, also if another namespace has an older object', async () => {
  for (const name of ['team-a', 'team-b'])
    assert.equal((await server.call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
  const of = (namespace: string) => `/apis/minik8s.io/v1/namespaces/${namespace}/dnses`;
  const make = (namespace: string, name: string, host: string, path: string) =>
    server.call('POST', of(namespace), {
      metadata: { name },
      spec: { host, paths: [{ path, serviceName: 'web', servicePort: 80 }] },
    });
  assert.equal((await make('team-b', 'older', 'own.team-b.example', '/x')).status, 201);
  assert.equal((await make('team-a', 'one', 'joint.example', '/')).status, 201);
  assert.equal((await make('team-a', 'two', 'joint.example', '/two')).status, 201);
  const take = () =>
    server.call('PATCH', `${of('team-b')}/older`, { spec: { host: 'joint.example' } }, merge);
  const refused = await make('team-b', 'thief', 'joint.example', '/login');
  assert.equal(refused.status, 422, refused.text);
  assert.match(
    refused.text,
    /spec\.host: Invalid value: \\"joint\.example\\": belongs to the namespace team-a/,
  );
  assert.equal((await server.call('DELETE', `${of('team-a')}/one`)).status, 200);
  assert.equal((await take()).status, 422);
  assert.equal((await server.call('DELETE', `${of('team-a')}/two`)).status, 200);
  assert.equal((await take()).status, 200);
});

test('a namespace has at most 1000 paths, by every kind of write', async () => {
  const many = (count: number, at: number) =>
    Array.from({ length: count }, (_, n) => ({ path: `/${at + n}`, serviceName: 'web', servicePort: 80 }));
  assert.equal((await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'full' } })).status, 201);
  const of = '/apis/minik8s.io/v1/namespaces/full/dnses';
  const make = (n: number, count: number) =>
    server.call('POST', of, {
      metadata: { name: `d${n}` },
      spec: { host: 'full.example', paths: many(count, n * 100) },
    });
  for (let n = 0; n < 9; n++) assert.equal((await make(n, 100)).status, 201);
  assert.equal((await make(9, 99)).status, 201);
  const refused = await make(10, 2);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /spec\.paths.*may have 1000 paths together, and would have 1001/);
  const grown = (count: number) =>
    server.call('PATCH', `${of}/d9`, { spec: { paths: many(count, 900) } }, merge);
  assert.equal((await grown(100)).status, 200);
  assert.equal((await make(11, 1)).status, 422);
  assert.equal((await grown(99)).status, 200);
  assert.equal((await make(11, 1)).status, 201);
});

test('only unregistered domains are allowed unless an administrator allows more', async () => {
  const usual = await startTestServer();
  try {
    assert.equal((await create('a', 'shop.example', usual)).status, 201);
    const refused = await create('b', 'shop.corp.com', usual);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /\*\.example, \*\.test.*--dns-domains/);
  } finally {
    await usual.stop();
  }
});
