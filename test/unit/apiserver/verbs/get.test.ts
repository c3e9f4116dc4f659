/** GET of one object: the current state, a state at least as new as a version, or a watch. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import type { Store } from '../../../../src/storage/store.ts';
import { admin, startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';

describe('one object', () => {
  let server: TestServer;
  let revision: number;
  before(async () => {
    server = await startTestServer();
    for (const name of ['a', 'b']) {
      const { metadata } = (await server.call('POST', maps, { metadata: { name } })).json();
      revision = Number(metadata.resourceVersion);
    }
    await server.cache.waitUntil(revision);
  });
  after(() => server.stop());

  test('is read from the cache at the requested version or later', async () => {
    for (const query of [
      '',
      '?resourceVersion=0',
      `?resourceVersion=${revision}`,
      '?watch=false',
      '?watch=0',
    ]) {
      const answer = await server.call('GET', `${maps}/a${query}`);
      const { kind, metadata } = answer.json();
      assert.deepEqual([answer.status, kind, metadata.name], [200, 'ConfigMap', 'a'], query);
    }
    for (const query of ['', '?resourceVersion=0']) {
      const answer = await server.call('GET', `${maps}/none${query}`);
      assert.equal(answer.status, 404);
      assert.equal(answer.json<Status>().message, 'configmaps "none" not found');
    }
  });

  test('is sent as a row of a table or as metadata if the client requests that', async () => {
    const as = (form: string, query = '') => {
      const accept = `application/json;as=${form};g=meta.k8s.io;v=v1`;
      return server.call('GET', `${maps}/a${query}`, undefined, { headers: { accept } });
    };
    const { metadata } = (await server.call('GET', `${maps}/a`)).json();
    const head = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
    assert.deepEqual((await as('PartialObjectMetadata')).json(), { ...head, metadata });
    interface Table {
      readonly kind: string;
      readonly metadata: object;
      readonly columnDefinitions: readonly object[];
      readonly rows: readonly {
        readonly cells: readonly unknown[];
        readonly object?: { readonly kind: string };
      }[];
    }
    for (const [query, kind] of [
      ['', 'PartialObjectMetadata'],
      ['?includeObject=Object', 'ConfigMap'],
      ['?includeObject=None', undefined],
    ] as const) {
      const table = (await as('Table', query)).json<Table>();
      assert.deepEqual(
        [table.kind, table.metadata],
        ['Table', { resourceVersion: metadata.resourceVersion }],
      );
      assert.deepEqual(
        table.rows.map(({ cells, object }) => [cells[0], object?.kind]),
        [['a', kind]],
      );
      assert.equal(table.rows[0]?.cells.length, table.columnDefinitions.length);
    }
    assert.equal((await as('Table', '?includeObject=All')).status, 400);
  });

  test('is awaited if its version is in the future, and rejected after the timeout', async () => {
    const asked = server.call('GET', `${maps}/a?resourceVersion=${revision + 1000}`);
    await server.clock.settle();
    await server.clock.advance(3000);
    const answer = await asked;
    assert.equal(answer.status, 504, answer.text);
    assert.match(answer.json<Status>().message ?? '', /Too large resource version/);
  });

  for (const query of ['watch=true', 'watch=true&fieldSelector=metadata.namespace%3Ddefault'])
    test(`is the only watched object with ?${query}`, async () => {
      const answer = server.call('GET', `${maps}/a?${query}&timeoutSeconds=5`);
      await server.clock.settle();
      await server.clock.advance(5000);
      const lines = (await answer).text.trim().split('\n');
      const names = lines
        .map((line) => JSON.parse(line))
        .map(({ type, object }) => `${type} ${object.metadata.name}`);
      assert.deepEqual(names, ['ADDED a']);
    });

  test('is watched only if it matches the selector of the request', async () => {
    const answer = server.call('GET', `${maps}/a?watch=true&labelSelector=x&timeoutSeconds=5`);
    await server.clock.settle();
    await server.clock.advance(5000);
    assert.equal((await answer).text, '');
  });
});

test('is not sent if it was created for another node after the node’s authorization', async () => {
  const key = '/registry/pods/default/late';
  let make: (() => Promise<unknown>) | undefined;
  const wrapStore = (store: Store): Store => ({
    ...store,
    async get(name) {
      const found = await store.get(name);
      // The authorizer that checks whether the node may read finds nothing; afterwards the object is created.
      const once = name === key ? make : undefined;
      if (once) make = undefined;
      await once?.();
      return found;
    },
  });
  const server = await startTestServer({ wrapStore });
  try {
    const pods = '/api/v1/namespaces/default/pods';
    const body = {
      metadata: { name: 'late' },
      spec: { nodeName: 'n2', containers: [{ name: 'c', image: 'i' }] },
    };
    const user = { name: 'system:node:n1', groups: ['system:nodes'] };
    make = async () => assert.equal((await server.call('POST', pods, body, { user: admin })).status, 201);
    const asked = server.call('GET', `${pods}/late`, undefined, { user });
    await server.clock.settle();
    await server.clock.advance(10);
    const answer = await asked;
    assert.equal(make, undefined, 'it was made meanwhile');
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.json<Status>().message ?? '', /the pod is not bound to node "n1"/);
  } finally {
    await server.stop();
  }
});
