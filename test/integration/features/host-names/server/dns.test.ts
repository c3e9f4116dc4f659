import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import type { Service } from '../../../../../src/api/core/v1/service/service.ts';
import type { Dns } from '../../../../../src/features/host-names/api/dns.ts';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';

const collection = (namespace = 'default') => `/apis/minik8s.io/v1/namespaces/${namespace}/dnses`;

it('cluster DNS has a Service without endpoints at the tenth address', async () => {
  const server = await startTestServer();
  try {
    const found = await server.call('GET', '/api/v1/namespaces/kube-system/services/kube-dns');
    const { spec } = found.json<Service>();
    assert.equal(spec.clusterIP, '10.96.0.10');
    assert.deepEqual(
      spec.ports?.map(({ name, protocol, port }) => `${name} ${protocol} ${port}`),
      ['dns UDP 53', 'dns-tcp TCP 53'],
    );
    assert.equal(spec.selector, undefined);
  } finally {
    await server.stop();
  }
});

describe('Dns objects', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    const made = await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    assert.equal(made.status, 201, `${namespaceResource.kind}: ${made.text}`);
  });
  after(() => server.stop());

  const spec = (host: string, ...paths: string[]) => ({
    host,
    paths: paths.map((path) => ({ path, serviceName: 'web', servicePort: 80 })),
  });
  const create = (name: string, host: string, paths: string[], namespace = 'default') =>
    server.call('POST', collection(namespace), { metadata: { name }, spec: spec(host, ...paths) });

  it('own their paths exclusively', async () => {
    assert.equal((await create('one', 'a.example', ['/', '/api'])).status, 201);
    const refused = await create('two', 'a.example', ['/other', '/api/']);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /spec\.paths\[1\]\.path.*another Dns serves a\.example\/api/);
    assert.equal((await server.call('GET', `${collection()}/two`)).status, 404);
    assert.equal((await create('two', 'a.example', ['/other'])).status, 201);
  });

  it('get a path for only one of them when many are created at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => create(`race-${n}`, 'race.example', ['/'])),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(422)]);
  });

  it('release their old paths and claim new ones when they change', async () => {
    await create('moving', 'm.example', ['/', '/a']);
    const path = `${collection()}/moving`;
    const moved = (await server.call('GET', path)).json<Dns>();
    const put = await server.call('PUT', path, { ...moved, spec: spec('m.example', '/a', '/b') });
    assert.equal(put.status, 200, put.text);
    assert.equal((await create('root', 'm.example', ['/'])).status, 201);
    assert.equal((await create('b', 'm.example', ['/b'])).status, 422);
    const back = await server.call('PUT', path, { ...put.json<Dns>(), spec: spec('m.example', '/') });
    assert.equal(back.status, 422);
    assert.equal((await server.call('DELETE', path)).status, 200);
    assert.equal((await create('b', 'm.example', ['/a', '/b'])).status, 201);
  });

  it('are found by a field selector with their host', async () => {
    await create('found', 'f.example', ['/']);
    const found = await server.call('GET', `${collection()}?fieldSelector=spec.host%3Df.example`);
    assert.deepEqual(
      found.json<{ items: Dns[] }>().items.map(({ metadata }) => metadata.name),
      ['found'],
    );
  });
});
