/**
 * Answers with thousands of objects yield to other requests, and are not encoded before the client reads
 * them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { registry } from '../../../src/features/kinds.ts';
import { encodeObject } from '../../../src/storage/codec.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const count = 3000;
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const metadata = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
const maps = '/api/v1/configmaps';

/**
 * Counts how often an object was read since the event loop last turned (`now`), and the maximum of that
 * count.
 */
const looked = { total: 0, now: 0, most: 0 };
function look(): void {
  looked.total++;
  looked.now++;
  looked.most = Math.max(looked.most, looked.now);
}

/** ConfigMaps that count when a table cell is made, and when a selector reads a field. */
const counted: ResourceDefinition = {
  ...(configMapResource as unknown as ResourceDefinition),
  columns: [
    {
      name: 'Name',
      type: 'string',
      description: 'the name',
      cell(object) {
        look();
        return object.metadata.name;
      },
    },
  ],
  selectableFields: {
    'data.parity': (object) => {
      look();
      return (object as unknown as { data: { parity: string } }).data.parity;
    },
  },
};

describe('an answer of thousands of objects', () => {
  let server: TestServer;
  before(async () => {
    const kinds = new KindSet(registry.map((each) => (each.plural === 'configmaps' ? counted : each)));
    server = await startTestServer({ kinds });
    let last = 0;
    for (let number = 0; number < count; number++) {
      const name = `m${String(number).padStart(5, '0')}`;
      const meta = { name, namespace: 'default', uid: name, creationTimestamp: '2026-01-01T00:00:00Z' };
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: meta,
        data: { parity: `${number % 2}` },
      };
      last = await server.store.create(
        `/registry/configmaps/default/${name}`,
        encodeObject(object as unknown as KubeObject),
      );
    }
    await server.cache.waitUntil(last);
  });
  after(() => server.stop());

  const open = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await server.handlerFor(admin)(new Request(`https://apiserver${path}`, { headers }));
    assert.equal(response.status, 200);
    const reader = response.body?.getReader();
    assert.ok(reader);
    return { response, reader };
  };

  /** Reads the whole answer while the turns of the event loop are counted. */
  const readCounting = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    Object.assign(looked, { total: 0, now: 0, most: 0 });
    let turns = 0;
    let done = false;
    const tick = () => {
      turns++;
      looked.now = 0;
      if (!done) setImmediate(tick);
    };
    setImmediate(tick);
    const { reader } = await open(path, headers);
    const chunks: Uint8Array[] = [];
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) chunks.push(chunk.value);
    done = true;
    return { turns, chunks, text: Buffer.concat(chunks).toString() };
  };

  it('may be a Table, which is created a few rows at a time, and is sent in pieces', async () => {
    const { text, chunks } = await readCounting(maps, table);
    const { kind, columnDefinitions, rows } = JSON.parse(text);
    assert.deepEqual([kind, columnDefinitions[0].name, rows.length], ['Table', 'Name', count]);
    assert.equal(rows.at(-1).object.metadata.name, 'm02999');
    assert.equal(looked.total, count);
    assert.ok(looked.most <= 250, `${looked.most} rows were made at once`);
    assert.ok(Math.max(...chunks.map((chunk) => chunk.length)) < 256 * 1024);
  });

  it('lets other requests be answered between its rows, also beside similar answers', async () => {
    const tables = Array.from({ length: 5 }, () => readCounting(maps, table));
    await Promise.all(tables);
    assert.ok(looked.most <= 250, `${looked.most} rows were made at once`);
  });

  it('may be a Table, which is encoded as the client reads it', async () => {
    Object.assign(looked, { total: 0, now: 0, most: 0 });
    const { reader } = await open(maps, table);
    await reader.read();
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(looked.total < count / 2, `${looked.total} rows were made`);
    await reader.cancel();
  });

  it('may be metadata only, which is also encoded in turns', async () => {
    const { text, turns } = await readCounting(maps, metadata);
    const { kind, items } = JSON.parse(text);
    assert.deepEqual([kind, items.length], ['PartialObjectMetadataList', count]);
    assert.ok(turns >= count / 250, `${turns} turns`);
  });

  it('matches a field selector a few objects at a time', async () => {
    const { text } = await readCounting(`${maps}?fieldSelector=data.parity%3D1`);
    assert.equal(JSON.parse(text).items.length, count / 2);
    assert.ok(looked.most <= 250, `${looked.most} objects were read at once`);
  });

  it('stops once the limit of matching objects is reached', async () => {
    const { text } = await readCounting(`${maps}?fieldSelector=data.parity%3D1&limit=10`);
    const { items, metadata: list } = JSON.parse(text);
    assert.equal(items.length, 10);
    assert.ok(list.continue);
    assert.ok(looked.total < 100, `${looked.total} objects were read`);
  });

  it('ends when the client disconnects', async () => {
    Object.assign(looked, { total: 0, now: 0, most: 0 });
    const gone = new AbortController();
    const request = new Request(`https://apiserver${maps}?fieldSelector=data.parity%3D2`, {
      signal: gone.signal,
    });
    const answer = server.handlerFor(admin)(request);
    while (looked.total === 0) await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    await answer;
    assert.ok(looked.total < count / 2, `${looked.total} objects were read`);
  });

  it('begins a watch as Tables, a few objects at a time', async () => {
    Object.assign(looked, { total: 0, now: 0, most: 0 });
    const query =
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    let done = false;
    const tick = () => {
      looked.now = 0;
      if (!done) setImmediate(tick);
    };
    setImmediate(tick);
    const { reader } = await open(`${maps}?${query}`, table);
    let text = '';
    while (!text.includes('initial-events-end')) {
      const { value, done: ended } = await reader.read();
      assert.ok(!ended);
      text += Buffer.from(value).toString();
    }
    done = true;
    assert.equal(text.split('\n').filter((line) => line.includes('"ADDED"')).length, count);
    assert.ok(looked.most <= 250, `${looked.most} rows were made at once`);
    await reader.cancel();
  });
});
