/** First event and duration of a watch. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemUser, type UserInfo } from '../../../../src/apiserver/request/user.ts';
import type { Source } from '../../../../src/apiserver/transport/pushed-body.ts';
import { admin, startTestServer, type TestServer } from '../../../fixtures/api-server.ts';
import { LaggingStore } from '../../../fixtures/lagging-store.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const minute = 60_000;
/** Next random number, in [0, 1). */
let drawn: number;
let lagging: LaggingStore | undefined;
let server: TestServer;
let ended: AbortController;
beforeEach(async () => {
  drawn = 0;
  ended = new AbortController();
  server = await startTestServer({
    bare: true,
    random: { next: () => drawn, uuid: () => 'u', bytes: () => Buffer.alloc(0) } as never,
    wrapStore: (store) => {
      lagging = new LaggingStore(store);
      return lagging.store;
    },
  });
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
});
afterEach(async () => {
  ended.abort();
  await server.stop();
});

const make = async (name: string) => {
  const { metadata } = (await server.call('POST', maps, { metadata: { name } })).json();
  return Number(metadata.resourceVersion);
};

interface Event {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly metadata: {
      readonly name?: string;
      readonly resourceVersion: string;
      readonly annotations?: object;
    };
  };
}

/** A watch whose events are read by the test; closed at the end of the test. */
class Watch {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = '';
  #more = Promise.withResolvers<void>();
  over = false;

  private constructor(response: Response) {
    this.response = response;
    this.#reader = (
      response.body ?? assert.fail('no body')
    ).getReader() as ReadableStreamDefaultReader<Uint8Array>;
    void this.#read();
  }

  static async open(query: string, user: UserInfo = admin, path = maps): Promise<Watch> {
    const request = new Request(`https://apiserver${path}?watch=true${query}`, { signal: ended.signal });
    const response = await server.handlerFor(user)(request);
    assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
    return new Watch(response);
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#text += Buffer.from(value).toString();
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    }
    this.over = true;
  }

  /** Returns the events once there are `count` of them and no work is pending. */
  async events(count = 0): Promise<readonly Event[]> {
    for (;;) {
      const { promise } = this.#more;
      for (let turn = 0; turn < 2; turn++) await server.clock.settle();
      const lines = this.#text.split('\n').filter(Boolean);
      if (lines.length >= count) return lines.map((line) => JSON.parse(line) as Event);
      await server.clock.until(promise);
    }
  }

  async names(count?: number): Promise<string> {
    const events = await this.events(count);
    return events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim()).join();
  }

  /** Asserts the number of milliseconds after which the watch ends, to the millisecond. */
  async lasts(ms: number): Promise<void> {
    await server.clock.advance(ms - 1);
    assert.equal(this.over, false, `it was over before ${ms} ms`);
    await server.clock.advance(1);
    await server.clock.settle();
    assert.equal(this.over, true, `it was not over after ${ms} ms`);
  }
}

describe('a watch begins', () => {
  test('with the existing objects, and continues from there', async () => {
    await make('a');
    await make('b');
    for (const query of ['', '&resourceVersion=0', '&resourceVersion=']) {
      await server.cache.waitUntil(await make(`c${query.length}`));
      const watch = await Watch.open(query);
      const first = await watch.names(3);
      assert.match(first, /^ADDED a,ADDED b,ADDED c0/, query);
      await server.cache.waitUntil(await make(`late${query.length}`));
      const count = first.split(',').length + 1;
      assert.equal(await watch.names(count), `${first},ADDED late${query.length}`);
    }
  });

  test('begins after the given version, without the objects that existed at that version', async () => {
    const revision = await make('a');
    const next = await make('b');
    await server.cache.waitUntil(next);
    assert.equal(await (await Watch.open(`&resourceVersion=${revision}`)).names(1), 'ADDED b');
    assert.equal(await (await Watch.open(`&resourceVersion=${next}`)).names(), '');
  });

  test('without the present objects if the client requests so', async () => {
    await server.cache.waitUntil(await make('a'));
    const query = '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
    for (const from of ['', '&resourceVersion=0']) {
      const watch = await Watch.open(`${query}${from}`);
      assert.equal(await watch.names(), '');
      await server.cache.waitUntil(await make(`b${from.length}`));
      assert.equal(await watch.names(1), `ADDED b${from.length}`);
    }
  });

  test('with the present objects and a bookmark if the client requests so', async () => {
    const revision = await make('a');
    await server.cache.waitUntil(revision);
    const streaming = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    for (const from of ['', '&resourceVersion=0', `&resourceVersion=${revision - 1}`]) {
      const watch = await Watch.open(`${streaming}&allowWatchBookmarks=true${from}`);
      assert.equal(await watch.names(2), 'ADDED a,BOOKMARK');
      const [, { object: mark } = assert.fail()] = await watch.events();
      assert.deepEqual(mark.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
      assert.equal(mark.metadata.resourceVersion, String(revision));
    }
    // Bookmarks are only sent to clients that allow them, and this one only to clients that stream the
    // initial list.
    assert.equal(await (await Watch.open(streaming)).names(1), 'ADDED a');
    assert.equal(await (await Watch.open('&allowWatchBookmarks=true')).names(1), 'ADDED a');
  });

  test('with all current objects, even if the cache is behind', async () => {
    for (const [query, expected] of [
      ['', 'ADDED a'],
      ['&sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'ADDED a,ADDED b'],
    ] as const) {
      lagging?.holdEvents();
      const revision = await make(expected.at(-1) ?? '');
      const opening = Watch.open(
        `${query}${query && `&resourceVersion=${revision}`}&allowWatchBookmarks=true`,
      );
      let opened = false;
      void opening.then(() => {
        opened = true;
      });
      await server.clock.settle();
      assert.equal(opened, false);
      // A client that names a version gets the state of the cache.
      for (const from of [0, revision]) await Watch.open(`&resourceVersion=${from}`);
      lagging?.releaseEvents();
      const watch = await opening;
      assert.match(await watch.names(expected.split(',').length), new RegExp(`^${expected}`));
    }
  });

  test('as a table, in the negotiated format', async () => {
    await server.cache.waitUntil(await make('a'));
    const request = new Request(`https://apiserver${maps}?watch=true&includeObject=None`, {
      headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      signal: ended.signal,
    });
    const response = await server.handlerFor(admin)(request);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.ok(response.headers.get('audit-id'));
    const { value } = await (response.body ?? assert.fail()).getReader().read();
    const { object } = JSON.parse(Buffer.from(value ?? []).toString()) as { object: { rows: object[] } };
    assert.deepEqual(
      object.rows.map((row) => Object.keys(row)),
      [['cells']],
    );
  });

  test('in the background if its answer writes to the connection itself', async () => {
    await server.cache.waitUntil(await make('a'));
    let pushed: Source | undefined;
    const env = {
      user: admin,
      push: (source: Source) => {
        pushed = source;
      },
    };
    const response = await server.app.fetch(new Request(`https://apiserver${maps}?watch=true`), env);
    assert.deepEqual([response.status, response.body], [200, null]);
    let text = '';
    const source = pushed ?? assert.fail('nothing was handed over');
    source.begin({
      write: (piece) => {
        text += Buffer.from(piece).toString();
      },
      end: () => undefined,
      cut: () => undefined,
      backlog: 0,
      room: () => Promise.resolve(),
    });
    await server.clock.settle();
    assert.match(text, /^\{"type":"ADDED"/);
    source.cancel();
  });
});

describe('a watch lasts', () => {
  const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'] };

  for (const [draw, ms] of [
    [0, 30 * minute],
    [0.5, 45 * minute],
  ] as const)
    test(`${ms / minute} minutes if the random number is ${draw}`, async () => {
      drawn = draw;
      await (await Watch.open('')).lasts(ms);
    });

  test('as long as requested', async () => {
    await (await Watch.open('&timeoutSeconds=1')).lasts(1000);
    await (await Watch.open('&timeoutSeconds=7200')).lasts(120 * minute);
    await (await Watch.open('&timeoutSeconds=0')).lasts(30 * minute);
  });

  test('at most ten minutes for a node', async () => {
    const path = '/api/v1/pods';
    const own = '&fieldSelector=spec.nodeName%3Dn1';
    await (await Watch.open(own, node, path)).lasts(10 * minute);
    await (await Watch.open(`${own}&timeoutSeconds=7200`, node, path)).lasts(10 * minute);
    await (await Watch.open(`${own}&timeoutSeconds=599`, node, path)).lasts(599_000);
    await (await Watch.open('&timeoutSeconds=601', systemUser('x'), path)).lasts(601_000);
  });
});
