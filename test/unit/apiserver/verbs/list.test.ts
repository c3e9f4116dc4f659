/** A collection in each format that a client may request, with its metadata. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const names = ['a', 'b', 'c'];

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly items?: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly data?: object;
  }[];
  readonly rows?: readonly { readonly cells: readonly unknown[] }[];
}

let server: TestServer;
before(async () => {
  server = await startTestServer();
  for (const name of names) await server.call('POST', maps, { metadata: { name }, data: { x: name } });
});
after(() => server.stop());

const listAs = async (form: string, query = '') => {
  const accept = form ? `application/json;as=${form};g=meta.k8s.io;v=v1` : 'application/json';
  const answer = await server.call('GET', `${maps}${query}`, undefined, { headers: { accept } });
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.headers.get('audit-id'));
  return answer.json<List>();
};

describe('a list', () => {
  for (const [form, kind, apiVersion, item] of [
    ['', 'ConfigMapList', 'v1', 'ConfigMap'],
    ['PartialObjectMetadataList', 'PartialObjectMetadataList', 'meta.k8s.io/v1', 'PartialObjectMetadata'],
    ['Table', 'Table', 'meta.k8s.io/v1', undefined],
  ] as const)
    test(`can be sent as ${kind}`, async () => {
      const list = await listAs(form);
      assert.deepEqual([list.kind, list.apiVersion], [kind, apiVersion]);
      assert.deepEqual(list.metadata, { resourceVersion: String(server.cache.revision) });
      if (item === undefined)
        assert.deepEqual(
          list.rows?.map(({ cells }) => cells[0]),
          names,
        );
      else {
        assert.deepEqual(
          list.items?.map(({ metadata }) => metadata.name),
          names,
        );
        assert.equal(list.items?.[0]?.kind, item);
        assert.equal(list.items?.[0]?.data !== undefined, item === 'ConfigMap');
      }
    });

  test('has the content type of protobuf if it is in protobuf', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    const answer = await server.call('GET', maps, undefined, { headers: { accept } });
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, accept]);
    assert.match(answer.text, /^k8s\0.*ConfigMapList/s);
    assert.ok(answer.headers.get('audit-id'));
  });

  test('has the token of the next page and the remaining count if it is in pages', async () => {
    for (const form of ['', 'Table']) {
      const first = await listAs(form, '?limit=2');
      const { continue: token, ...metadata } = first.metadata;
      assert.deepEqual(metadata, { resourceVersion: String(server.cache.revision), remainingItemCount: 1 });
      assert.equal(typeof token, 'string');
      const last = await listAs(form, `?limit=2&continue=${encodeURIComponent(String(token))}`);
      assert.deepEqual(last.metadata, { resourceVersion: String(server.cache.revision) });
      assert.equal((last.items ?? last.rows)?.length, 1);
    }
  });
});
