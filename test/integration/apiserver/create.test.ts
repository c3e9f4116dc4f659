import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('create', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('stores the sent object with the metadata that only the server sets', async () => {
    const forged = {
      name: 'one',
      uid: 'mine',
      creationTimestamp: '1999-01-01T00:00:00Z',
      deletionTimestamp: '1999-01-01T00:00:00Z',
      generation: 9,
      selfLink: '/x',
    };
    const answer = await server.call('POST', configMaps, { metadata: forged, data: { a: '1' } });
    assert.equal(answer.status, 201);
    const { metadata } = answer.json();
    const stored = await storedObject(server, '/registry/configmaps/default/one');
    assert.deepEqual(stored, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'one',
        namespace: 'default',
        uid: metadata.uid,
        creationTimestamp: '2026-01-01T00:00:00Z',
        resourceVersion: metadata.resourceVersion,
        managedFields: [
          {
            manager: 'unknown',
            operation: 'Update',
            apiVersion: 'v1',
            time: '2026-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
          },
        ],
      },
      data: { a: '1' },
    });
    assert.match(metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(answer.headers.get('audit-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(answer.headers.get('cache-control'), 'no-cache, private');
  });

  it('starts generations at 1 and drops a sent status', async () => {
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    const body = { metadata: { name: 'd' }, spec, status: { replicas: 5 } };
    const answer = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', body);
    assert.equal(answer.status, 201, answer.text);
    const stored = await storedObject(server, '/registry/deployments.apps/default/d');
    assert.equal(stored?.metadata.generation, 1);
    assert.notEqual((stored as unknown as { status?: { replicas?: number } }).status?.replicas, 5);
  });

  it('generates a name from a prefix, and another one if it is taken', async () => {
    let draws = 0;
    // Returns two names of five equal letters, then other names.
    const random = {
      next: () => (draws++ < 10 ? 0 : 0.5),
      uuid: () => '00000000-0000-4000-8000-000000000000',
    };
    const own = await startTestServer({ random });
    draws = 0;
    const body = { metadata: { generateName: 'g-' } };
    assert.equal((await own.call('POST', configMaps, body)).json().metadata.name, 'g-bbbbb');
    assert.equal((await own.call('POST', configMaps, body)).json().metadata.name, 'g-rrrrr');
    await own.stop();
  });

  it('fails if no generated name is free', async () => {
    const random = { next: () => 0, uuid: () => '00000000-0000-4000-8000-000000000000' };
    const own = await startTestServer({ random });
    const generate = () => own.call('POST', configMaps, { metadata: { generateName: 'g-' } });
    assert.equal((await generate()).status, 201);
    const refused = await generate();
    assert.equal(refused.status, 409);
    const status = refused.json<Status>();
    assert.equal(status.reason, 'AlreadyExists');
    assert.match(status.message ?? '', /was not able to generate a unique name/);
    await own.stop();
  });

  const refusals: readonly [string, string, unknown, number, RegExp][] = [
    [
      'a namespace that does not exist',
      '/api/v1/namespaces/nope/configmaps',
      { metadata: { name: 'x' } },
      404,
      /namespaces "nope" not found/,
    ],
    [
      'another namespace in the body',
      configMaps,
      { metadata: { name: 'x', namespace: 'other' } },
      400,
      /does not match the namespace/,
    ],
    ['no name', configMaps, {}, 422, /name or generateName is required/],
    ['a bad name', configMaps, { metadata: { name: 'A_B' } }, 422, /metadata.name: Invalid value: "A_B"/],
    [
      'a resourceVersion',
      configMaps,
      { metadata: { name: 'x', resourceVersion: '5' } },
      400,
      /should not be set/,
    ],
    [
      'another kind',
      configMaps,
      { kind: 'Secret', metadata: { name: 'x' } },
      400,
      /does not match the expected kind/,
    ],
    ['another version', configMaps, { apiVersion: 'apps/v1', metadata: { name: 'x' } }, 400, /API version/],
    ['no JSON', configMaps, '{"metadata":', 400, /cannot be read/],
    ['a list', configMaps, [], 400, /must be an object/],
    ['an empty body', configMaps, '', 400, /cannot be read|must be an object/],
    [
      'a wrong type',
      configMaps,
      { metadata: { name: 'x' }, data: { a: 1 } },
      400,
      /cannot unmarshal|ConfigMap/,
    ],
    ['all namespaces', '/api/v1/configmaps', { metadata: { name: 'x' } }, 405, /does not allow this method/],
  ];
  for (const [what, path, body, code, message] of refusals) {
    it(`rejects ${what}`, async () => {
      const answer = await server.call('POST', path, body);
      assert.equal(answer.status, code, answer.text);
      const status = answer.json<Status>();
      assert.equal(status.kind, 'Status');
      assert.equal(status.code, code);
      assert.match(status.message ?? '', message);
    });
  }

  it('refuses an existing object, with its name', async () => {
    await server.call('POST', configMaps, { metadata: { name: 'twice' } });
    const status = (await server.call('POST', configMaps, { metadata: { name: 'twice' } })).json<Status>();
    assert.equal(status.message, 'configmaps "twice" already exists');
    assert.deepEqual(status.details, { name: 'twice', kind: 'configmaps' });
  });

  it('stores nothing in a dry run, and returns the same answer', async () => {
    const answer = await server.call('POST', `${configMaps}?dryRun=All`, { metadata: { name: 'dry' } });
    assert.equal(answer.status, 201);
    assert.equal(answer.json().metadata.resourceVersion, '');
    assert.equal(await storedObject(server, '/registry/configmaps/default/dry'), undefined);
    assert.equal((await server.call('POST', `${configMaps}?dryRun=None`, {})).status, 422);
  });

  it('warns of unknown fields, and refuses them when the client is strict', async () => {
    const body = { metadata: { name: 'typo' }, dta: { a: '1' } };
    const strict = await server.call('POST', `${configMaps}?fieldValidation=Strict`, body);
    assert.equal(strict.status, 400);
    assert.match(strict.json<Status>().message ?? '', /strict decoding error: unknown field "dta"/);
    const lax = await server.call('POST', configMaps, body);
    assert.equal(lax.status, 201);
    assert.equal(lax.headers.get('warning'), '299 - "unknown field \\"dta\\""');
    assert.equal('dta' in lax.json(), false);
    assert.equal((await server.call('POST', `${configMaps}?fieldValidation=Maybe`, body)).status, 422);
  });

  it('accepts YAML, and rejects invalid protobuf and forms', async () => {
    const send = (type: string, body: string) =>
      server.call('POST', configMaps, body, { headers: { 'content-type': type } });
    assert.equal((await send('application/yaml', 'metadata: {name: yaml}\ndata: {a: "1"}\n')).status, 201);
    assert.equal((await send('application/vnd.kubernetes.protobuf', 'k8s')).status, 400);
    assert.equal((await send('multipart/form-data', 'x')).status, 415);
  });

  it('refuses a body of more than 3 MiB', async () => {
    const answer = await server.call('POST', configMaps, { data: { a: 'x'.repeat(3 * 1024 * 1024) } });
    assert.equal(answer.status, 413);
    assert.equal(answer.json<Status>().reason, 'RequestEntityTooLarge');
  });

  it('creates nothing in a terminating namespace', async () => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
    const deleted = await server.call('DELETE', '/api/v1/namespaces/ending');
    assert.equal(deleted.json<KubeObject & { status: { phase: string } }>().status.phase, 'Terminating');
    await server.cache.waitUntil(await server.store.currentRevision());
    const answer = await server.call('POST', '/api/v1/namespaces/ending/configmaps', {
      metadata: { name: 'x' },
    });
    assert.equal(answer.status, 403);
    assert.equal(answer.json<Status>().details?.causes?.[0]?.reason, 'NamespaceTerminating');
  });
});
