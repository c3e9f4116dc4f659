/** Behavior of the store when etcd does not answer, or rejects requests. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { RpcError } from '../../../src/storage/etcd-rpc.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import {
  CompactedError,
  type Store,
  StoreRejectedError,
  StoreUnavailableError,
  ValueTooLargeError,
} from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd, raisesFence, unanswered } from './model-etcd.ts';

const bytes = (text: string) => Buffer.from(text);

interface World {
  readonly etcd: ModelEtcd;
  readonly clock: FakeClock;
  /** Action that an operator has to take before etcd answers again. */
  trouble: string | undefined;
  readonly open: (startMs?: number) => Promise<Store>;
}

function world(): World {
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  const self: World = {
    etcd,
    clock,
    trouble: undefined,
    open: (startMs) =>
      createEtcdStore({
        rpc: etcd.rpc,
        clock,
        random: new SeededRandom(1),
        log: silentLogger,
        attemptMs: 1000,
        settleMs: 5000,
        startMs,
        trouble: () => self.trouble,
      }),
  };
  return self;
}

/** Returns the outcome of a promise, and its time. */
function watched<T>(clock: FakeClock, promise: Promise<T>) {
  const began = clock.now();
  const seen: { value?: T; error?: unknown; after?: number } = {};
  promise.then(
    (value) => Object.assign(seen, { value, after: clock.now() - began }),
    (error) => Object.assign(seen, { error, after: clock.now() - began }),
  );
  return seen;
}

test('a slow start of etcd is awaited until the timeout', async () => {
  for (const [startMs, isOpen] of [
    [60_000, true],
    [undefined, false],
  ] as const) {
    const { etcd, clock, open } = world();
    const answersAt = clock.now() + 50_000;
    etcd.onCall = () => {
      if (clock.now() < answersAt) throw unanswered();
    };
    const seen = watched(clock, open(startMs));
    await clock.advance(51_000);
    assert.equal(seen.value !== undefined, isOpen);
    assert.equal(seen.error instanceof StoreUnavailableError, !isOpen);
  }
});

describe('a read without an answer', () => {
  it('is repeated every 50 ms, with the time that is left as its timeout', async () => {
    const { etcd, clock, open } = world();
    const store = await open();
    const revision = await store.create('/r/a', bytes('1'));
    const limits: number[] = [];
    etcd.onCall = (_, timeoutMs) => {
      limits.push(timeoutMs);
      if (limits.length < 4) throw unanswered();
    };
    const seen = watched(clock, store.get('/r/a'));
    await clock.advance(149);
    assert.equal(seen.after, undefined);
    await clock.advance(1);
    assert.deepEqual(seen.value, { key: '/r/a', value: bytes('1'), revision });
    assert.deepEqual(limits, [1000, 1000, 1000, 1000]);
  });

  it('fails at the timeout, with the reason', async () => {
    const { etcd, clock, open } = world();
    const store = await open();
    const limits: number[] = [];
    etcd.onCall = (_, timeoutMs) => {
      limits.push(timeoutMs);
      throw unanswered();
    };
    const seen = watched(clock, store.list('/r/'));
    await clock.advance(10_000);
    assert.ok(seen.error instanceof StoreUnavailableError);
    assert.equal(seen.error.message, 'listing /r/: etcd did not answer: the connection was cut');
    assert.equal(seen.error.trouble, undefined);
    assert.ok(seen.error.cause instanceof RpcError);
    // There is no attempt in the last moment: its answer could only be late.
    assert.equal(seen.after, 4900);
    assert.deepEqual([limits[0], limits.at(-1)], [1000, 100]);
  });

  it("fails at once while an administrator's task is pending", async () => {
    const self = world();
    const store = await self.open();
    self.trouble = 'the disk is full';
    self.etcd.onCall = () => {
      throw unanswered();
    };
    const seen = watched(self.clock, store.get('/r/a'));
    await self.clock.settle();
    assert.ok(seen.error instanceof StoreUnavailableError);
    assert.equal(seen.error.trouble, 'the disk is full');
    assert.match(seen.error.message, /^reading \/r\/a: .*: the disk is full$/);
  });

  it('fails at once when the store is closed', async () => {
    const { clock, open } = world();
    const store = await open();
    await store.close();
    const seen = watched(clock, store.currentRevision());
    await clock.settle();
    assert.ok(seen.error instanceof StoreUnavailableError);
    assert.equal(clock.pending, 0);
  });
});

describe('a read that is refused', () => {
  for (const [failure, error] of [
    ['refused', StoreRejectedError],
    ['compacted', CompactedError],
  ] as const) {
    it(`is not repeated (${failure})`, async () => {
      const { etcd, clock, open } = world();
      const store = await open();
      etcd.onCall = () => {
        throw new RpcError(failure, 'not this one');
      };
      await assert.rejects(store.get('/r/a'), (thrown: Error) => {
        assert.ok(thrown instanceof error);
        assert.equal(thrown.message, 'reading /r/a: not this one');
        return true;
      });
      assert.equal(clock.pending, 0);
    });
  }

  it('rejects with the original error when that is not a failure of etcd', async () => {
    const { etcd, open } = world();
    const store = await open();
    const wrong = new TypeError('a mistake');
    etcd.onCall = () => {
      throw wrong;
    };
    await assert.rejects(store.get('/r/a'), wrong);
  });
});

test('the store is created once etcd answers, and rejected when it never does', async () => {
  const { etcd, clock, open } = world();
  let away = true;
  etcd.onCall = () => {
    if (away) throw unanswered();
  };
  const late = watched(clock, open());
  await clock.advance(1000);
  assert.deepEqual(late, {});
  away = false;
  await clock.advance(50);
  assert.ok(late.value);
  away = true;
  const never = watched(clock, open());
  await clock.advance(5000);
  assert.ok(never.error instanceof StoreUnavailableError);
});

test('a list of many keys is one snapshot, even if keys are written in the meantime', async () => {
  const { etcd, open } = world();
  const store = await open();
  const names = Array.from({ length: 6001 }, (_, at) => `/r/${String(at).padStart(4, '0')}`);
  for (const name of names) etcd.put(name, '');
  const { revision } = etcd;
  let calls = 0;
  etcd.onCall = () => {
    if (++calls === 1) return;
    etcd.put('/r/9999', 'new');
    etcd.put('/r/5000', undefined);
  };
  const all = await store.list('/r/');
  assert.deepEqual(
    all.items.map(({ key }) => key),
    names,
  );
  assert.deepEqual([all.revision, all.more, all.remaining, calls], [revision, false, 0, 5]);
  calls = 0;
  const some = await store.list('/r/', { limit: 5001, revision });
  assert.deepEqual([some.items.length, some.more, some.remaining, calls], [5001, true, 1000, 5]);
});

test('an update or a deletion at a revision below 1 is rejected', async () => {
  const { open, etcd } = world();
  const store = await open();
  for (const expected of [0, -1]) {
    await assert.rejects(async () => store.update('/r/a', bytes('1'), expected), RangeError);
    await assert.rejects(async () => store.delete('/r/a', expected), RangeError);
  }
  assert.deepEqual(etcd.keys, []);
});

test('progress is requested from etcd if its answers are ordered with the events, otherwise by a write of a key below the prefix', async () => {
  for (const [version, keys] of [
    ['3.5.13', []],
    ['3.5.12', ['/r.progress']],
  ] as const) {
    const { etcd, clock, open } = world();
    etcd.version = version;
    const store = await open();
    const stop = new AbortController();
    const reached: number[] = [];
    const ended = (async () => {
      for await (const batch of store.watch('/r/', 1, stop.signal)) reached.push(batch.revision);
    })();
    store.requestProgress();
    await clock.settle();
    etcd.put('/elsewhere', '1');
    assert.deepEqual(reached, []);
    store.requestProgress();
    await clock.settle();
    assert.deepEqual(reached, [etcd.revision]);
    assert.deepEqual(
      etcd.keys.filter((key) => key !== '/elsewhere'),
      keys,
    );
    stop.abort();
    await ended;
    store.requestProgress();
    await clock.settle();
    assert.equal(etcd.watches.size, 0);
  }
});

test('a failed compaction rejects', async () => {
  const { etcd, open } = world();
  const store = await open();
  await assert.rejects(store.compact(99), StoreRejectedError);
  etcd.put('/r/a', '1');
  await store.compact(2);
  await store.compact(2);
});

describe('a write', () => {
  for (const [message, error] of [
    ['etcdserver: request is too large', ValueTooLargeError],
    ['grpc: received message larger than max (9 vs. 8)', ValueTooLargeError],
    ['etcdserver: mvcc: database space exceeded', StoreRejectedError],
  ] as const) {
    it(`that is rejected is not repeated: ${message}`, async () => {
      const { etcd, clock, open } = world();
      const store = await open();
      etcd.onTxn = async () => {
        throw new RpcError('refused', message);
      };
      await assert.rejects(store.create('/r/a', bytes('1')), (thrown: Error) => {
        assert.equal(thrown.constructor, error);
        assert.equal(thrown.message, `etcd refused to write /r/a: ${message}`);
        return true;
      });
      assert.equal(clock.pending, 0);
    });
  }

  it('whose answer is lost is settled once etcd answers', async () => {
    const { etcd, clock, open } = world();
    const store = await open();
    const away = new Date(clock.now() + 3000).getTime();
    let writes = 0;
    etcd.onTxn = async (request, apply) => {
      if (!raisesFence(request)) {
        writes++;
        apply();
        throw unanswered();
      }
      if (clock.now() < away) throw unanswered();
      return apply();
    };
    const seen = watched(clock, store.create('/r/a', bytes('1')));
    await clock.advance(2990);
    assert.deepEqual(seen, {});
    await clock.advance(60);
    assert.equal(seen.value, 2);
    assert.equal(writes, 1);
  });

  it('whose answer is lost is settled although the history cannot be read at first', async () => {
    const { etcd, clock, open } = world();
    const store = await open();
    let lost = false;
    etcd.onTxn = async (_, apply) => {
      const answer = apply();
      if (lost) return answer;
      lost = true;
      throw unanswered();
    };
    let watches = 0;
    etcd.onCall = (name) => {
      if (name === 'watch' && ++watches < 3) throw unanswered();
    };
    const seen = watched(clock, store.create('/r/a', bytes('1')));
    await clock.advance(100);
    assert.equal(seen.value, 2);
    assert.equal(watches, 3);
  });

  it('that was not applied is repeated', async () => {
    const { etcd, clock, open } = world();
    const store = await open();
    let tries = 0;
    etcd.onTxn = async (request, apply) => {
      if (raisesFence(request)) return apply();
      if (++tries < 3) throw unanswered();
      return apply();
    };
    const seen = watched(clock, store.create('/r/a', bytes('1')));
    await clock.advance(200);
    assert.equal(etcd.value('/r/a'), '1');
    assert.equal(seen.value, etcd.revision);
  });

  const never = async (self: World) => {
    const store = await self.open();
    self.etcd.onTxn = async () => {
      throw unanswered();
    };
    return watched(self.clock, store.create('/r/a', bytes('1')));
  };

  it('with an unknown outcome is rejected at the timeout', async () => {
    const self = world();
    const seen = await never(self);
    await self.clock.advance(4990);
    assert.deepEqual(seen, {});
    await self.clock.advance(100);
    assert.ok(seen.error instanceof StoreUnavailableError);
    assert.match(seen.error.message, /the write of \/r\/a, and it is unknown whether the write was made$/);
    assert.equal(self.clock.pending, 0);
  });

  it("is rejected at once while an administrator's task is pending", async () => {
    const self = world();
    self.trouble = 'the disk is full';
    const seen = await never(self);
    await self.clock.settle();
    assert.ok(seen.error instanceof StoreUnavailableError);
    assert.equal(seen.error.trouble, 'the disk is full');
  });
});

describe('a deletion whose answer is lost', () => {
  const lose = (etcd: ModelEtcd, around: (apply: () => unknown) => void) => {
    const usual = etcd.onTxn;
    etcd.onTxn = async (_, apply) => {
      etcd.onTxn = usual;
      around(apply);
      throw unanswered();
    };
  };

  it('is identified by its mark', async () => {
    const { etcd, open } = world();
    const store = await open();
    const made = await store.create('/r/a', bytes('1'));
    lose(etcd, (apply) => apply());
    assert.equal(await store.delete('/r/a', made), made + 1);
  });

  it("is not confused with another writer's", async () => {
    const { etcd, open } = world();
    const store = await open();
    const made = await store.create('/r/a', bytes('1'));
    lose(etcd, () => etcd.put('/r/a', undefined));
    await assert.rejects(store.delete('/r/a', made), { name: 'RevisionMismatchError' });
  });
});
