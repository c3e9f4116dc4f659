/**
 * Pages of a collection: each object once and as of one revision, from the cache, from the store's past, and
 * over several turns.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { parseListQuery } from '../../../../src/apimachinery/list-options.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { selectionOf } from '../../../../src/apiserver/reads/selection.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { storedObject } from '../../../../src/apiserver/stored-object.ts';
import { matchingObjects, readPage } from '../../../../src/apiserver/verbs/page.ts';
import { VersionReader } from '../../../../src/apiserver/versions/version-reader.ts';
import { encodeObject } from '../../../../src/storage/codec.ts';
import type { ListOptions, Store, StoredValue } from '../../../../src/storage/store.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const definition = configMapResource as unknown as ResourceDefinition;
const prefix = '/registry/configmaps/default/';
const { signal } = new AbortController();

let store: Store;
/** Objects in the cache, and the revision that it is at. */
let cached: { readonly revision: number; readonly items: readonly StoredValue[] };
const counts = { turns: 0, asked: 0, lists: [] as ListOptions[] };
beforeEach(() => {
  store = createMemoryStore();
  cached = { revision: 1, items: [] };
});

async function put(name: string, labels: Record<string, string> = {}): Promise<void> {
  const key = `${prefix}${name}`;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels } };
  const bytes = encodeObject(object as unknown as KubeObject);
  const before = await store.get(key);
  await (before ? store.update(key, bytes, before.revision) : store.create(key, bytes));
}

/** Brings the cache up to date with the store, and returns the revision. */
async function catchUp(): Promise<number> {
  cached = await store.list('/registry/');
  return cached.revision;
}

function server(): ServerContext & { readonly clock: FakeClock } {
  Object.assign(counts, { turns: 0, asked: 0, lists: [] });
  const under = (start: string) => cached.items.filter(({ key }) => key.startsWith(start)).map(storedObject);
  return {
    clock: new FakeClock(),
    versionReader: new VersionReader({ next: async () => undefined }),
    cache: {
      get revision() {
        return cached.revision;
      },
      list: under,
      get: (key: string) => under(key).find((item) => item.key === key),
      waitUntil: (_: number, aborted: AbortSignal) =>
        new Promise((_resolve, reject) => aborted.addEventListener('abort', () => reject(aborted.reason))),
    },
    latest: {
      async ask() {
        counts.asked++;
        return catchUp();
      },
    },
    turns: {
      async next() {
        counts.turns++;
      },
    },
    store: {
      ...store,
      list(start: string, options: ListOptions) {
        counts.lists.push(options);
        return store.list(start, options);
      },
    },
  } as unknown as ServerContext & { readonly clock: FakeClock };
}

async function page(query: string, over: Record<string, unknown> = {}) {
  const parsed = { ...parseListQuery(new URLSearchParams(query)), ...over };
  const found = await readPage(server(), selectionOf(definition, 'default', parsed), parsed, { signal });
  return { ...found, names: found.items.map(({ key }) => key.slice(prefix.length)) };
}
const refusal = (code: number) => (error: unknown) =>
  error instanceof StatusError && error.status.code === code;
const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('pages', () => {
  beforeEach(async () => {
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries())
      await put(name, { parity: index % 2 ? 'odd' : 'even' });
    await put('f', { parity: 'odd' });
  });

  for (const [limit, remaining] of [
    [1, [5, 4, 3, 2, 1, undefined]],
    [2, [4, 2, undefined]],
    [5, [1, undefined]],
    [6, [undefined]],
    [7, [undefined]],
  ] as const)
    test(`contain each object once and have the remaining count with the limit ${limit}`, async () => {
      const names: string[] = [];
      const left: (number | undefined)[] = [];
      let next = '';
      do {
        const found = await page(`limit=${limit}&continue=${next}`);
        names.push(...found.names);
        left.push(found.remaining);
        assert.ok(found.names.length <= limit);
        next = found.continue;
      } while (next !== '');
      assert.deepEqual([names, left], [['a', 'b', 'c', 'd', 'e', 'f'], remaining]);
    });

  for (const [limit, pages] of [
    [1, [['a'], ['c'], ['e']]],
    [2, [['a', 'c'], ['e']]],
    [3, [['a', 'c', 'e']]],
  ] as const)
    test(`contain the selected objects and have no remaining count with the limit ${limit} and a selector`, async () => {
      const found: (readonly string[])[] = [];
      let next = '';
      do {
        const one = await page(`limit=${limit}&labelSelector=parity%3Deven&continue=${next}`);
        assert.equal(one.remaining, undefined);
        if (one.names.length > 0) found.push(one.names);
        next = one.continue;
      } while (next !== '');
      assert.deepEqual(found, pages);
    });

  test('have the same revision, also after changes between the pages', async () => {
    const first = await page('limit=2');
    await put('bb');
    await put('e');
    const { revision = 0 } = (await store.get(`${prefix}d`)) ?? {};
    await store.delete(`${prefix}d`, revision);
    const second = await page(`limit=0&continue=${first.continue}`, {});
    assert.deepEqual(second.names, ['c', 'd', 'e', 'f']);
    assert.equal(second.revision, first.revision);
    assert.equal(second.items[2]?.object.metadata.labels?.parity, 'even');
  });

  test('continue at the latest revision when the earlier one is compacted and the client agrees', async () => {
    const first = await page('limit=2');
    await put('bb');
    await put('e');
    await store.compact(await store.currentRevision());
    let further = '';
    await assert.rejects(page(`limit=2&continue=${first.continue}`), (error) => {
      assert.ok(refusal(410)(error));
      const parts =
        /continue parameter is too old .* start a new list without .* token in this response .* inconsistent list .* show up in the list\.$/;
      assert.match((error as StatusError).message, parts);
      further = String((error as StatusError).status.metadata?.continue);
      return true;
    });
    const rest = await page(`continue=${further}`);
    // Objects before the place where the list continues are not shown.
    assert.deepEqual(rest.names, ['bb', 'c', 'd', 'e', 'f']);
    assert.equal(rest.revision, await store.currentRevision());
  });

  for (const [title, forged] of [
    ['that is invalid', 'x'],
    ['of a number', token(7)],
    ['of nothing', token(null)],
    ['without a place', token({ rv: 3 })],
    ['whose place is no text', token({ rv: 3, after: 1 })],
    ['whose revision is no number', token({ rv: '3', after: 'a' })],
    ['of half a revision', token({ rv: 2.5, after: 'a' })],
    ['of revision 0', token({ rv: 0, after: 'a' })],
  ] as const)
    test(`are rejected with a token ${title}`, () =>
      assert.rejects(
        page(`continue=${forged}`),
        (error) => refusal(400)(error) && /continue key/.test(String(error)),
      ));

  test('never leave the collection, even with a forged token', async () => {
    await store.create('/registry/configmaps/other/x', Buffer.from('{}'));
    assert.deepEqual((await page(`continue=${token({ rv: 1, after: '' })}`)).names, []);
    await catchUp();
    assert.deepEqual((await page(`continue=${token({ after: '../' })}`)).names, [
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
    ]);
  });
});

describe('a list', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
  });

  test('without a resourceVersion requests the revision of the store; a list at any version is read from the cache', async () => {
    assert.deepEqual((await page('')).names, ['a', 'b', 'c']);
    assert.equal(counts.asked, 1);
    await put('d');
    const any = await page('resourceVersion=0&limit=1');
    assert.deepEqual([any.names, any.continue, counts.asked], [['a', 'b', 'c'], '', 0]);
  });

  test('of an exact version shows the past state, also in pages', async () => {
    const before = await catchUp();
    await put('d');
    await catchUp();
    const exact = `resourceVersionMatch=Exact&resourceVersion=${before}`;
    assert.deepEqual((await page(exact)).names, ['a', 'b', 'c']);
    const first = await page(`${exact}&limit=2`);
    assert.deepEqual([first.names, first.revision, first.remaining], [['a', 'b'], before, 1]);
    const last = await page(`limit=2&continue=${first.continue}`);
    assert.deepEqual([last.names, last.continue], [['c'], '']);
    await store.compact(await store.currentRevision());
    await assert.rejects(
      page(exact),
      (error) => refusal(410)(error) && !(error as StatusError).status.metadata?.continue,
    );
  });

  for (const query of [
    'resourceVersion=1000',
    'resourceVersion=1000&resourceVersionMatch=Exact',
    `continue=${token({ rv: 1000, after: '' })}`,
  ])
    test(`with ${query} waits for the revision, and is rejected after the timeout`, async () => {
      const context = server();
      const parsed = parseListQuery(new URLSearchParams(query));
      const reading = readPage(context, selectionOf(definition, 'default', parsed), parsed, { signal });
      const refused = assert.rejects(reading, refusal(504));
      await context.clock.settle();
      assert.equal(context.clock.pending, 1);
      await context.clock.advance(3000);
      await refused;
    });

  test('fails with the error of the store, and not as expired, if the store cannot answer', async () => {
    const before = await catchUp();
    store = { ...store, list: () => Promise.reject(new Error('down')) };
    await assert.rejects(page(`resourceVersionMatch=Exact&resourceVersion=${before}`), /^Error: down$/);
  });

  test('with a selector needs one turn for 25 objects, and two for 26', async () => {
    for (let i = 0; i < 22; i++) await put(`n${i}`);
    await page('labelSelector=!x');
    assert.equal(counts.turns, 0);
    await put('z');
    await page('labelSelector=!x');
    assert.equal(counts.turns, 1);
  });

  test('at a past revision reads only as many objects at once as it needs', async () => {
    const before = await catchUp();
    const exact = `resourceVersionMatch=Exact&resourceVersion=${before}`;
    await page(`${exact}&limit=2`);
    assert.deepEqual(counts.lists, [{ limit: 2, revision: before }]);
    await page(`${exact}&limit=2&labelSelector=!x`);
    assert.deepEqual(counts.lists, [{ limit: 500, revision: before }]);
    await page(exact);
    assert.deepEqual(counts.lists, [{ limit: 500, revision: before }]);
    await page(`${exact}&limit=600&labelSelector=!x`);
    assert.deepEqual(counts.lists, [{ limit: 600, revision: before }]);
  });

  test('of one name reads one key', async () => {
    assert.deepEqual((await page('fieldSelector=metadata.name%3Db')).names, ['b']);
    assert.deepEqual((await page('fieldSelector=metadata.name%3Dx')).names, []);
  });
});

describe('a long list', () => {
  beforeEach(async () => {
    for (let i = 1000; i < 2101; i++) await put(`m${i}`, { last: String(i % 2) });
    await catchUp();
  });

  test('of the past is complete, read piece by piece', async () => {
    const exact = `resourceVersionMatch=Exact&resourceVersion=${cached.revision}`;
    const { names } = await page(exact);
    assert.deepEqual([names.length, new Set(names).size], [1101, 1101]);
    assert.equal(counts.lists.length, 3);
    assert.equal(counts.turns, 0, 'nothing is decoded for it');
    const odd = await page(`${exact}&labelSelector=last%3D1`);
    assert.deepEqual([odd.names.length, odd.names.at(-1)], [550, 'm2099']);
    assert.equal(counts.turns, 4, 'each 250 objects others have their turn');
    const last = await page(`${exact}&fieldSelector=metadata.name%3Dm2100`);
    assert.deepEqual([last.names, last.continue, counts.lists.length], [['m2100'], '', 3]);
    const some = await page(`${exact}&labelSelector=last%3D1&limit=300`);
    assert.deepEqual([some.names.length, some.names.at(-1)], [300, 'm1599']);
    const rest = await page(`labelSelector=last%3D1&limit=300&continue=${some.continue}`);
    assert.deepEqual([rest.names.length, rest.names[0], rest.continue], [250, 'm1601', '']);
  });

  test('with a selector is encoded in turns, and only as far as necessary', async () => {
    const select = (query: string, most?: number) => {
      const parsed = parseListQuery(new URLSearchParams(query));
      return matchingObjects(server(), selectionOf(definition, 'default', parsed), { signal }, most);
    };
    assert.equal((await select('')).items.length, 1101);
    assert.equal(counts.turns, 0);
    assert.equal((await select('labelSelector=last%3D1')).items.length, 550);
    assert.equal(counts.turns, 5);
    assert.equal((await select('labelSelector=last%3D1', 3)).items.length, 3);
    assert.equal(counts.turns, 1);
    const first = await page('labelSelector=last%3D1&limit=3');
    assert.deepEqual([first.names, counts.turns], [['m1001', 'm1003', 'm1005'], 1]);
    assert.equal((await select('fieldSelector=metadata.name%3Dm1000')).items.length, 1);
    assert.equal(counts.turns, 0);
  });
});
