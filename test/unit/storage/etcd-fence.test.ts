/** Fence after a lost write, the claims with it, and the end of retries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { RpcError, type TxnResponse } from '../../../src/storage/etcd-rpc.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import { ClaimTakenError, type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd, raisesFence, unanswered } from './model-etcd.ts';

const bytes = (text: string) => Buffer.from(text);

function open(etcd: ModelEtcd, clock = new FakeClock()): Promise<Store> {
  const [random, log] = [new SeededRandom(1), silentLogger];
  return createEtcdStore({ rpc: etcd.rpc, clock, random, log, attemptMs: 1000, settleMs: 5000 });
}

for (const [what, write] of [
  ['a creation', (store: Store) => store.create('/r/new', bytes('1'))],
  [
    'an update',
    async (store: Store) => store.update('/r/a', bytes('2'), (await store.get('/r/a'))?.revision ?? 0),
  ],
  ['a deletion', async (store: Store) => store.delete('/r/a', (await store.get('/r/a'))?.revision ?? 0)],
] as const) {
  test(`${what} that arrives at etcd after its fence changes nothing`, async () => {
    const etcd = new ModelEtcd();
    const store = await open(etcd);
    await store.create('/r/a', bytes('1'));
    let late: (() => TxnResponse) | undefined;
    let arrived: boolean | undefined;
    etcd.onTxn = async (request, apply) => {
      if (raisesFence(request)) {
        const answer = apply();
        arrived = late?.().succeeded;
        return answer;
      }
      if (late) return apply();
      late = apply;
      throw unanswered();
    };
    // The write is made again after the fence, exactly once.
    assert.equal(await write(store), etcd.revision);
    assert.equal(arrived, false);
  });
}

test('a later writer uses the existing fence', async () => {
  const etcd = new ModelEtcd();
  etcd.put('/r.fence', 'now');
  const store = await open(etcd);
  const made = await store.create('/r/a', bytes('1'));
  etcd.put('/r.fence', 'again');
  assert.equal(await store.update('/r/a', bytes('2'), made), etcd.revision);
});

test('a fence from another request does not end a claim of the leader', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd);
  const term = { key: '/claims/term', owner: '7' };
  etcd.put(term.key, term.owner);
  etcd.put('/r.fence', 'now');
  const made = await store.create('/r/a', bytes('1'), { holding: [term] });
  assert.equal(made, etcd.revision);
});

test('writes that are lost together share a fence', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd);
  let fences = 0;
  const lost = new Set<string>();
  etcd.onTxn = async (request, apply) => {
    const written = request.success[0]?.request_put?.key.toString() ?? '';
    if (raisesFence(request)) fences++;
    else if (!lost.has(written)) {
      lost.add(written);
      throw unanswered();
    }
    await new Promise(setImmediate);
    return apply();
  };
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `/r/${name}`);
  await Promise.all(names.map((name) => store.create(name, bytes('1'))));
  assert.equal(fences, 1);
  assert.deepEqual(etcd.keys, ['/r.fence', ...names]);
});

test('a claim that the writer had must still be its own when the write is applied', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd);
  const claims = { acquire: [{ key: '/claims/ip', owner: 'us' }] };
  const made = await store.create('/r/a', bytes('1'), claims);
  let attempts = 0;
  etcd.onTxn = async (_, apply) => {
    if (++attempts === 2) etcd.put('/claims/ip', 'them');
    return apply();
  };
  await assert.rejects(store.update('/r/a', bytes('2'), made, claims), ClaimTakenError);
  assert.equal(etcd.value('/r/a'), '1');
});

test('a write that conflicts again and again fails at the deadline', async () => {
  for (const [lost, message] of [
    [true, /it is unknown whether the write was made$/],
    [false, /^the write of \/r\/a conflicted with other writes too often$/],
  ] as const) {
    const etcd = new ModelEtcd();
    const clock = new FakeClock();
    const store = await open(etcd, clock);
    let attempts = 0;
    etcd.onTxn = async (request, apply) => {
      if (raisesFence(request)) return apply();
      attempts++;
      await clock.advance(1000);
      if (lost) throw unanswered();
      etcd.put('/r.fence', String(attempts));
      return apply();
    };
    await assert.rejects(store.create('/r/a', bytes('1')), (error: Error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.match(error.message, message);
      return true;
    });
    assert.equal(attempts, 5);
    assert.equal(etcd.value('/r/a'), undefined);
  }
});

test('a fence is repeated every 50 ms until the deadline, with the time that is left as its timeout', async () => {
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  const store = await open(etcd, clock);
  const began = clock.now();
  const fences: (readonly [at: number, timeoutMs: number])[] = [];
  etcd.onTxn = async (request, _, timeoutMs) => {
    if (raisesFence(request)) fences.push([clock.now() - began, timeoutMs]);
    throw unanswered();
  };
  let ended: number | undefined;
  const rejected = assert.rejects(store.create('/r/a', bytes('1')), StoreUnavailableError).then(() => {
    ended = clock.now() - began;
  });
  await clock.advance(4950);
  assert.equal(ended, undefined);
  await clock.advance(1000);
  await rejected;
  assert.equal(ended, 5000);
  assert.deepEqual(fences.slice(0, 2), [
    [0, 1000],
    [50, 1000],
  ]);
  assert.deepEqual(fences.slice(-3), [
    [4900, 100],
    [4950, 50],
    [5000, 1],
  ]);
});

test('a history that cannot be read is read again after another fence', async () => {
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  const store = await open(etcd, clock);
  let fences = 0;
  let lost = false;
  etcd.onTxn = async (request, apply) => {
    if (raisesFence(request)) fences++;
    const answer = apply();
    if (lost) return answer;
    lost = true;
    throw unanswered();
  };
  etcd.onCall = () => {
    throw unanswered();
  };
  const created = store.create('/r/a', bytes('1'));
  await clock.advance(120);
  etcd.onCall = () => {};
  await clock.advance(50);
  assert.equal(await created, 2);
  assert.equal(fences, 4, 'at 0, 50, 100 and 150 ms');
});

test('the outcome of a write is unknown at once when etcd rejects its fence', async () => {
  for (const answer of [new RpcError('refused', 'no space'), new TypeError('a mistake')]) {
    const etcd = new ModelEtcd();
    const store = await open(etcd);
    etcd.onTxn = async (request) => {
      throw raisesFence(request) ? answer : unanswered();
    };
    await assert.rejects(store.create('/r/a', bytes('1')), (error: Error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.match(error.message, /it is unknown whether the write was made$/);
      assert.equal(error.cause, answer);
      return true;
    });
  }
});

test('after a lost write the next one takes one transaction, even if history before the fence is compacted', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd);
  let lose = true;
  let transactions = 0;
  etcd.onTxn = async (request, apply) => {
    transactions++;
    const answer = apply();
    if (!lose || raisesFence(request)) return answer;
    lose = false;
    throw unanswered();
  };
  await store.create('/r/a', bytes('1'));
  const { revision } = etcd;
  await etcd.rpc.compact(revision, 1000);
  transactions = 0;
  lose = true;
  const second = await store.create('/r/b', bytes('2'));
  assert.equal(second, revision + 1);
  transactions = 0;
  await store.create('/r/c', bytes('3'));
  assert.equal(transactions, 1);
});

test('a first write is settled although all earlier history is compacted', async () => {
  const etcd = new ModelEtcd();
  for (const value of ['1', '2', '3']) etcd.put('/r/a', value);
  await etcd.rpc.compact(etcd.revision, 1000);
  const store = await open(etcd);
  let lost = false;
  etcd.onTxn = async (_, apply) => {
    const answer = apply();
    if (lost) return answer;
    lost = true;
    throw unanswered();
  };
  assert.equal(await store.create('/r/b', bytes('1')), 5);
});

test('the error of an unanswered call names what was requested', async () => {
  for (const [failing, message] of [
    ['range', /^reading the revision: etcd did not answer/],
    ['version', /^reading the version of etcd: etcd did not answer/],
  ] as const) {
    const etcd = new ModelEtcd();
    const clock = new FakeClock();
    etcd.onCall = (name) => {
      if (name === failing) throw unanswered();
    };
    const refused = assert.rejects(open(etcd, clock), { message });
    await clock.advance(6000);
    await refused;
  }
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  const store = await open(etcd, clock);
  etcd.onCall = () => {
    throw unanswered();
  };
  const refused = assert.rejects(store.compact(1), { message: /^compacting to 1: etcd did not answer/ });
  await clock.advance(6000);
  await refused;
});

test('an error that is not from etcd is not treated as a lost answer', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd);
  const mistake = new TypeError('a mistake');
  etcd.onTxn = async () => {
    throw mistake;
  };
  await assert.rejects(store.create('/r/a', bytes('1')), mistake);
});
