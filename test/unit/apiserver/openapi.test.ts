/** Description of the API: the documents, and how long a client may cache one. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fieldDocs } from '../../../config/build/field-docs.ts';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { createOpenApi } from '../../../src/apiserver/openapi.ts';
import { Turns } from '../../../src/apiserver/turns.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { kindFields, registry } from '../../../src/features/kinds.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const proto = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const json = 'application/json';

describe('the description of the API', () => {
  let read = 0;
  let broken = true;
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  let openapi: ReturnType<typeof createOpenApi>;
  before(() => {
    const definitions = [configMapResource, deploymentResource] as unknown as ResourceDefinition[];
    const tables = {
      clock,
      fields: kindFields,
      fieldDocs: async () => {
        read++;
        if (broken) throw new Error('no such file');
        return fieldDocs();
      },
    };
    openapi = createOpenApi(new KindSet(definitions), tables, new Turns(systemClock));
  });
  after(() => assert.equal(read, 4, 'failed once; version 2 in two forms, and version 3, are made once'));

  const ask = (path: string, headers: Record<string, string> = {}) =>
    openapi(new Request(`https://apiserver${path}`, { headers }));
  const get = async (path: string, headers?: Record<string, string>) =>
    (await ask(path, headers)) ?? assert.fail(`${path} is not there`);

  test('is created again after its creation failed', async () => {
    assert.equal(await ask('/openapi'), undefined);
    assert.equal(read, 0);
    await assert.rejects(ask('/openapi/v2'), /no such file/);
    broken = false;
    assert.equal((await get('/openapi/v2')).status, 200);
  });

  test('is created while other requests are answered, each document in a separate turn', async () => {
    const docs = fieldDocs();
    const tables = { clock, fields: kindFields, fieldDocs: async () => docs };
    const definitions = [configMapResource, deploymentResource] as unknown as ResourceDefinition[];
    const fresh = createOpenApi(new KindSet(definitions), tables, new Turns(systemClock));
    let heard = 0;
    let made = false;
    const hear = () => {
      heard++;
      if (!made) setImmediate(hear);
    };
    setImmediate(hear);
    await fresh(new Request('https://apiserver/openapi/v3'));
    await fresh(new Request('https://apiserver/openapi/v2'));
    made = true;
    // Turns: the two groups, and the JSON of version 2.
    assert.ok(heard >= 3, `others were heard ${heard} times`);
  });

  test('is created again only for the documents of changed kinds', async () => {
    let turns = 0;
    const kinds = new KindSet([configMapResource, deploymentResource] as unknown as ResourceDefinition[]);
    const tables = { clock, fields: kindFields, fieldDocs: async () => fieldDocs() };
    const some = createOpenApi(kinds, tables, { next: async () => void turns++ });
    const index = async () => {
      const answer = await some(new Request('https://apiserver/openapi/v3'));
      assert.ok(answer);
      return Object.keys(((await answer.json()) as { paths: object }).paths);
    };
    assert.deepEqual(await index(), ['api/v1', 'apis/apps/v1']);
    const first = turns;
    kinds.add(registry.find(({ group }) => group === 'node.k8s.io') ?? assert.fail('no such kind'));
    turns = 0;
    assert.deepEqual(await index(), ['api/v1', 'apis/apps/v1', 'apis/node.k8s.io/v1']);
    assert.ok(turns < first, `${turns} turns for one document, ${first} for two`);
  });

  test('is created for the core group in several turns', async () => {
    const docs = fieldDocs();
    const tables = { clock, fields: kindFields, fieldDocs: async () => docs };
    let turns = 0;
    const next = async () => void turns++;
    const core = registry.filter(({ group }) => group === '');
    const all = createOpenApi(new KindSet(core), tables, { next });
    const answer = await all(new Request('https://apiserver/openapi/v3/api/v1'));
    const size = (await answer?.arrayBuffer())?.byteLength ?? 0;
    // Schemas and JSON: a turn has 64 KiB and at most one more schema.
    const least = 2 * Math.floor(size / (96 * 1024));
    assert.ok(least >= 8, `${size} bytes`);
    assert.ok(turns >= least, `${turns} turns for ${size} bytes`);
  });

  test('is encoded in protobuf in several turns', async () => {
    const docs = fieldDocs();
    const tables = { clock, fields: kindFields, fieldDocs: async () => docs };
    let turns = 0;
    const next = async () => void turns++;
    const all = createOpenApi(new KindSet(registry), tables, { next });
    const answer = await all(new Request('https://apiserver/openapi/v2', { headers: { accept: proto } }));
    const size = (await answer?.arrayBuffer())?.byteLength ?? 0;
    // A turn encodes 16 KiB and at most one more schema, which is smaller than that on average.
    const forProto = Math.floor(size / (32 * 1024));
    assert.ok(forProto >= 20, `${size} bytes`);
    assert.ok(turns >= 1 + forProto, `${turns} turns for ${size} bytes`);
  });

  for (const path of [
    '/openapi',
    '/openapi/',
    '/openapi/v1',
    '/openapi/v3/',
    '/openapi/v9/api/v1',
    '/openapi/v3/apis/none/v1',
    '/x/openapi/v2',
  ])
    test(`is not served at ${path}`, async () => assert.equal(await ask(path), undefined));

  for (const [accept, type] of [
    ['', json],
    ['*/*', json],
    [json, json],
    ['text/html', json],
    [proto, proto],
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', proto],
    [`${proto},${json};q=0.9`, proto],
    [`${json},${proto}`, json],
    [`text/html,*/*,${proto}`, json],
    [`text/html,${proto},*/*`, proto],
  ] as const)
    test(`in version 2 for ${accept || 'no header'} is ${type}`, async () => {
      const answer = await get('/openapi/v2', accept ? { accept } : {});
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
      assert.equal(answer.headers.get('vary'), 'Accept');
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (type === proto) {
        // Field 1 of the message, with the version of the format.
        assert.deepEqual(bytes.subarray(0, 5), Buffer.from('\x0a\x032.0'));
      } else assert.equal((JSON.parse(bytes.toString()) as { swagger: string }).swagger, '2.0');
    });

  test('has the version of Kubernetes', async () => {
    const { info } = (await (await get('/openapi/v2')).json()) as {
      info: { title: string; version: string };
    };
    assert.deepEqual(info, { title: 'Kubernetes', version: 'v1.32.0' });
  });

  interface Index {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  }
  const urls = async () => {
    const { paths } = (await (await get('/openapi/v3')).json()) as Index;
    return Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL] as const);
  };

  test('in version 3 lists its documents, each under its hash, which clients may cache', async () => {
    const found = await urls();
    assert.ok(found.some(([path]) => path === 'api/v1') && found.some(([path]) => path === 'apis/apps/v1'));
    const hashes = new Set<string>();
    for (const [path, url] of found) {
      const { pathname, searchParams } = new URL(url, 'https://apiserver');
      assert.equal(pathname, `/openapi/v3/${path}`);
      const hash = searchParams.get('hash') ?? '';
      assert.match(hash, /^[0-9A-F]{32}$/);
      hashes.add(hash);
      const answer = await get(url);
      assert.deepEqual(
        ['etag', 'cache-control', 'expires', 'content-type', 'vary'].map((name) => answer.headers.get(name)),
        [`"${hash}"`, 'public, immutable', 'Fri, 01 Jan 2027 00:00:00 GMT', json, 'Accept'],
      );
      const { openapi: version } = (await answer.json()) as { openapi: string };
      assert.equal(version, '3.0.0');
    }
    assert.equal(hashes.size, found.length);
  });

  test('in version 3 without its hash is revalidated, and with an old hash is redirected', async () => {
    for (const [path, url] of await urls()) {
      const plain = await get(`/openapi/v3/${path}`);
      assert.deepEqual(
        [plain.status, plain.headers.get('cache-control'), plain.headers.get('expires')],
        [200, 'no-cache, private', null],
      );
      const moved = await get(`/openapi/v3/${path}?hash=OLD`);
      assert.deepEqual(
        [moved.status, moved.headers.get('location'), moved.headers.get('cache-control'), await moved.text()],
        [301, url, 'no-cache, private', ''],
      );
    }
  });

  test('is not sent to a client that has the current one', async () => {
    const [, url = ''] = (await urls())[0] ?? [];
    for (const path of ['/openapi/v2', '/openapi/v3', url]) {
      const first = await get(path);
      const etag = first.headers.get('etag') ?? '';
      const again = await get(path, { 'if-none-match': etag });
      assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', etag]);
      assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200);
    }
    const [v2, v2Proto] = [await get('/openapi/v2'), await get('/openapi/v2', { accept: proto })];
    assert.notEqual(v2.headers.get('etag'), v2Proto.headers.get('etag'));
  });
});
