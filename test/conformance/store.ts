/**
 * Contract of every Store, as tests. Each test works in a tree of its own, so that one store can serve all
 * tests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ClaimTakenError,
  CompactedError,
  KeyExistsError,
  RevisionMismatchError,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
  type WatchBatch,
} from '../../src/storage/store.ts';

let trees = 0;

/** Returns a prefix that no other test uses. */
export function freshTree(): string {
  return `/tree-${process.pid}-${++trees}/`;
}

/** Collects the events of a watch; `take` resolves once `count` events are there. */
export class Collector {
  readonly events: StoreEvent[] = [];
  readonly batches: WatchBatch[] = [];
  readonly #abort = new AbortController();
  #changed = Promise.withResolvers<void>();
  readonly ended: Promise<unknown>;

  constructor(store: Store, prefix: string, after: number) {
    this.ended = this.#run(store, prefix, after).catch((error) => error);
  }

  async #run(store: Store, prefix: string, after: number): Promise<void> {
    for await (const batch of store.watch(prefix, after, this.#abort.signal)) {
      this.batches.push(batch);
      for (const event of batch.events) this.events.push(event);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers<void>();
    }
  }

  get revisions(): number[] {
    return this.events.map((event) => event.revision);
  }

  async until(condition: () => boolean, ms = 60_000): Promise<void> {
    const deadline = Date.now() + ms;
    while (!condition()) {
      const left = deadline - Date.now();
      assert.ok(left > 0, `the watch delivered ${this.events.length} events and then nothing for ${ms} ms`);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, left);
      });
      const ended = this.ended.then((reason) => {
        if (!condition()) throw new Error('the watch ended', { cause: reason });
      });
      await Promise.race([this.#changed.promise, timeout, ended]);
      clearTimeout(timer);
    }
  }

  async take(count: number): Promise<readonly StoreEvent[]> {
    await this.until(() => this.events.length >= count);
    return this.events;
  }

  /** Ends the watch and returns the error with which the watch ended, if any. */
  async stop(): Promise<unknown> {
    this.#abort.abort();
    return await this.ended;
  }
}

const bytes = (text: string) => Buffer.from(text);

export function storeSuite(name: string, open: () => Promise<Store>): void {
  const check = (title: string, body: (store: Store, tree: string) => Promise<void>) =>
    test(`${name}: ${title}`, { timeout: 120_000 }, async () => {
      const store = await open();
      try {
        await body(store, freshTree());
      } finally {
        await store.close();
      }
    });

  check(
    'an object is created, read, updated and deleted, and each write has a revision of its own',
    async (store, tree) => {
      const key = `${tree}pods/a`;
      assert.equal(await store.get(key), undefined);
      const created = await store.create(key, bytes('one'));
      assert.deepEqual(await store.get(key), { key, value: bytes('one'), revision: created });
      const updated = await store.update(key, bytes('two'), created);
      assert.deepEqual(await store.get(key), { key, value: bytes('two'), revision: updated });
      const deleted = await store.delete(key, updated);
      assert.equal(await store.get(key), undefined);
      assert.ok(created < updated && updated < deleted);
      assert.ok((await store.currentRevision()) >= deleted);
      assert.ok((await store.create(key, bytes('three'))) > deleted);
    },
  );

  check('a value may be any bytes, also none or a megabyte', async (store, tree) => {
    const values = [Buffer.alloc(0), Buffer.from([0, 255, 10, 128]), Buffer.alloc(1 << 20, 7)];
    for (const [i, value] of values.entries()) {
      await store.create(`${tree}v/${i}`, value);
      assert.ok((await store.get(`${tree}v/${i}`))?.value.equals(value));
    }
    assert.equal((await store.list(`${tree}v/`)).items.length, values.length);
  });

  check(
    'a write with a wrong precondition fails, changes nothing and reports the stored object',
    async (store, tree) => {
      const key = `${tree}pods/a`;
      const absent = { current: undefined };
      await assert.rejects(store.update(key, bytes('x'), 1), absent);
      await assert.rejects(store.delete(key, 1), RevisionMismatchError);
      const first = await store.create(key, bytes('one'));
      await assert.rejects(store.create(key, bytes('again')), KeyExistsError);
      const second = await store.update(key, bytes('two'), first);
      const current = { key, value: bytes('two'), revision: second };
      await assert.rejects(store.update(key, bytes('stale'), first), {
        name: 'RevisionMismatchError',
        current,
      });
      await assert.rejects(store.delete(key, first), { name: 'RevisionMismatchError', current });
      assert.deepEqual(await store.get(key), current);
    },
  );

  check('only one of many writes that expect the same revision succeeds', async (store, tree) => {
    const key = `${tree}counter`;
    let revision = await store.create(key, bytes('start'));
    for (let round = 0; round < 5; round++) {
      const base = revision;
      const attempts = Array.from({ length: 20 }, (_, i) => store.update(key, bytes(`${round}/${i}`), base));
      const results = await Promise.allSettled(attempts);
      const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      assert.equal(won.length, 1);
      for (const result of results) {
        if (result.status === 'rejected') assert.ok(result.reason instanceof RevisionMismatchError);
      }
      revision = won[0] ?? 0;
      const winner = results.findIndex((result) => result.status === 'fulfilled');
      assert.deepEqual(await store.get(key), { key, value: bytes(`${round}/${winner}`), revision });
    }
    const creations = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => store.create(`${tree}one`, bytes(String(i)))),
    );
    assert.equal(creations.filter((result) => result.status === 'fulfilled').length, 1);
  });

  check(
    'a claim has one owner, and is acquired and released in the same transaction as its write',
    async (store, tree) => {
      const claim = `/claims${tree}10.96.0.1`;
      const other = `/claims${tree}10.96.0.2`;
      const a = await store.create(`${tree}a`, bytes('a'), { acquire: [{ key: claim, owner: 'a' }] });
      assert.deepEqual([await store.ownerOf(claim), await store.ownerOf(other)], ['a', undefined]);
      const again = await store.update(`${tree}a`, bytes('a2'), a, { acquire: [{ key: claim, owner: 'a' }] });
      const taken = { name: 'ClaimTakenError', claim };
      await assert.rejects(
        store.create(`${tree}b`, bytes('b'), { acquire: [{ key: claim, owner: 'b' }] }),
        taken,
      );
      assert.equal(await store.get(`${tree}b`), undefined);
      // The free claim of a rejected pair is not kept.
      const pair = [other, claim].map((key) => ({ key, owner: 'b' }));
      await assert.rejects(store.create(`${tree}b`, bytes('b'), { acquire: pair }), ClaimTakenError);
      const c = await store.create(`${tree}c`, bytes('c'), { acquire: [{ key: other, owner: 'c' }] });
      // A failed write acquires and releases no claims.
      await assert.rejects(store.delete(`${tree}a`, a, { release: [claim] }), RevisionMismatchError);
      await assert.rejects(
        store.create(`${tree}b`, bytes('b'), { acquire: [{ key: claim, owner: 'b' }] }),
        taken,
      );
      await store.delete(`${tree}a`, again, { release: [claim] });
      assert.equal(await store.ownerOf(claim), undefined);
      await store.create(`${tree}b`, bytes('b'), { acquire: [{ key: claim, owner: 'b' }] });
      // One write may swap claims.
      await store.update(`${tree}c`, bytes('c'), c, {
        acquire: [{ key: `${other}3`, owner: 'c' }],
        release: [other],
      });
      await store.create(`${tree}d`, bytes('d'), { acquire: [{ key: other, owner: 'd' }] });
      assert.equal((await store.list(tree)).items.length, 3);
    },
  );

  check(
    'a write that requires a claim succeeds only while its client holds the claim',
    async (store, tree) => {
      const held = (owner: string) => ({ holding: [{ key: `/claims${tree}term`, owner }] });
      const lost = { name: 'ClaimLostError', claim: `/claims${tree}term` };
      await assert.rejects(store.create(`${tree}a`, bytes('1'), held('one')), lost);
      await store.create(`${tree}holder`, bytes('h'), {
        acquire: [{ key: `/claims${tree}term`, owner: 'one' }],
      });
      const a = await store.create(`${tree}a`, bytes('1'), held('one'));
      const holder = await store.get(`${tree}holder`);
      assert.ok(holder);
      await store.update(`${tree}holder`, bytes('h2'), holder.revision, { release: [`/claims${tree}term`] });
      await store.create(`${tree}next`, bytes('n'), {
        acquire: [{ key: `/claims${tree}term`, owner: 'two' }],
      });
      const late = { acquire: [{ key: `/claims${tree}x`, owner: 'a' }], ...held('one') };
      await assert.rejects(store.create(`${tree}b`, bytes('late'), late), lost);
      await assert.rejects(store.update(`${tree}a`, bytes('late'), a, late), lost);
      await assert.rejects(store.delete(`${tree}a`, a, held('one')), lost);
      // An error about the key itself has precedence: a later leader may have changed the key.
      await assert.rejects(store.create(`${tree}a`, bytes('late'), held('one')), KeyExistsError);
      await store.create(`${tree}c`, bytes('c'), { acquire: [{ key: `/claims${tree}x`, owner: 'c' }] });
      assert.equal((await store.get(`${tree}a`))?.revision, a);
      await store.delete(`${tree}a`, a, held('two'));
    },
  );

  check('pages of a list are one snapshot, in key order', async (store, tree) => {
    const names = Array.from({ length: 25 }, (_, i) => `pods/${String((i * 7) % 25).padStart(2, '0')}`);
    for (const key of names) await store.create(`${tree}${key}`, bytes(key));
    await store.create(`${tree}podsx`, bytes('beside'));
    const sorted = names.map((key) => `${tree}${key}`).sort();
    const seen: string[] = [];
    let page = await store.list(`${tree}pods/`, { limit: 10 });
    const { revision } = page;
    for (;;) {
      seen.push(...page.items.map((item) => item.key));
      assert.equal(page.revision, revision);
      assert.equal(page.remaining, 25 - seen.length);
      assert.equal(page.more, seen.length < 25);
      const last = page.items.at(-1);
      if (!page.more || !last) break;
      // Deletions, creations and changes between two pages have no effect on the list.
      const next = await store.get(sorted[seen.length] ?? '');
      assert.ok(next);
      await store.delete(next.key, next.revision);
      await store.create(`${last.key}-new`, bytes('new'));
      page = await store.list(`${tree}pods/`, { limit: 10, revision, startAfter: last.key });
    }
    assert.deepEqual(seen, sorted);
    const now = await store.list(`${tree}pods/`);
    assert.equal(now.items.length, 25);
    assert.ok(now.revision > revision && !now.more && now.remaining === 0);
    assert.deepEqual((await store.list(`${tree}none/`)).items, []);
  });

  check(
    'a watch delivers each write under its prefix once and in order, beginning with past writes',
    async (store, tree) => {
      const before = await store.currentRevision();
      const a = await store.create(`${tree}w/a`, bytes('1'));
      const late = new Collector(store, `${tree}w/`, a);
      const all = new Collector(store, `${tree}w/`, before);
      const b = await store.update(`${tree}w/a`, bytes('2'), a);
      await store.create(`${tree}x/a`, bytes('elsewhere'));
      await store.create(`${tree}w`, bytes('beside'));
      const c = await store.create(`${tree}w/b`, bytes('3'), {
        acquire: [{ key: `/claims${tree}x`, owner: 'b' }],
      });
      const d = await store.delete(`${tree}w/a`, b);
      const expected: StoreEvent[] = [
        { type: 'put', key: `${tree}w/a`, value: bytes('1'), revision: a },
        { type: 'put', key: `${tree}w/a`, value: bytes('2'), revision: b },
        { type: 'put', key: `${tree}w/b`, value: bytes('3'), revision: c },
        { type: 'delete', key: `${tree}w/a`, revision: d },
      ];
      assert.deepEqual(await all.take(4), expected);
      assert.deepEqual(await late.take(3), expected.slice(1));
      for (const { batches } of [all, late]) {
        let reached = 0;
        for (const batch of batches) {
          assert.ok(batch.revision >= reached && batch.revision >= (batch.events.at(-1)?.revision ?? 0));
          reached = batch.revision;
        }
      }
      assert.equal(await all.stop(), undefined);
      assert.equal(await late.stop(), undefined);
    },
  );

  check(
    'an idle watch reports its progress, and never reports a revision that it has not delivered',
    async (store, tree) => {
      const idle = new Collector(store, `${tree}idle/`, await store.currentRevision());
      const busy = new Collector(store, `${tree}busy/`, await store.currentRevision());
      const acknowledged: number[] = [];
      let claimed = 0;
      const audit = () => {
        for (; claimed < busy.batches.length; claimed++) {
          const upTo = busy.batches[claimed]?.revision ?? 0;
          const delivered = new Set(
            busy.batches.slice(0, claimed + 1).flatMap((b) => b.events.map((e) => e.revision)),
          );
          for (const revision of acknowledged) assert.ok(revision > upTo || delivered.has(revision));
        }
      };
      for (let round = 0; round < 20; round++) {
        const writes = Array.from({ length: 20 }, (_, i) =>
          store.create(`${tree}busy/${round}-${i}`, bytes('x')),
        );
        store.requestProgress();
        acknowledged.push(...(await Promise.all(writes)));
        store.requestProgress();
      }
      await busy.take(400);
      audit();
      const last = acknowledged.at(-1) ?? 0;
      const asking = setInterval(() => store.requestProgress(), 50);
      try {
        await idle.until(() => (idle.batches.at(-1)?.revision ?? 0) >= last);
      } finally {
        clearInterval(asking);
      }
      assert.deepEqual(idle.events, []);
      assert.equal(new Set(busy.revisions).size, 400);
      await idle.stop();
      await busy.stop();
    },
  );

  check(
    'a watch of compacted history is rejected with CompactedError and never skips events',
    async (store, tree) => {
      const key = `${tree}c/a`;
      const first = await store.create(key, bytes('1'));
      const second = await store.update(key, bytes('2'), first);
      const gone = await store.delete(key, second);
      const kept = await store.create(key, bytes('3'));
      await store.compact(gone);
      for (const after of [first - 1, first, gone - 1]) {
        const reason = await new Collector(store, `${tree}c/`, after).ended;
        assert.ok(reason instanceof CompactedError, `a watch after ${after} ended with ${String(reason)}`);
        assert.equal(reason.compactRevision, gone);
      }
      await assert.rejects(store.list(`${tree}c/`, { revision: first }), CompactedError);
      const watch = new Collector(store, `${tree}c/`, gone);
      assert.deepEqual(
        (await watch.take(1)).map((event) => event.revision),
        [kept],
      );
      await watch.stop();
      await store.compact(gone);
      assert.equal((await store.get(key))?.revision, kept);
    },
  );

  check('a watch ends with its signal, and with an error when the store is closed', async (store, tree) => {
    const aborted = new Collector(store, tree, await store.currentRevision());
    const closed = new Collector(store, tree, await store.currentRevision());
    assert.equal(await aborted.stop(), undefined);
    await store.close();
    assert.ok((await closed.ended) instanceof StoreUnavailableError);
    await assert.rejects(store.get(`${tree}a`), StoreUnavailableError);
  });
}
