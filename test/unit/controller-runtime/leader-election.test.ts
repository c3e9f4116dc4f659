import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../src/client/client.ts';
import { runLeaderElection } from '../../../src/controller-runtime/leader-election.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { LeaseServer } from './lease-server.ts';

class Candidate {
  leading = false;
  terms = 0;
  /** Numbers of the terms in which the candidate led. */
  readonly numbers: number[] = [];
  giveUp: (why: string) => void = () => undefined;
  /** Called when the candidate begins to lead. */
  onLead: () => void = () => undefined;
  readonly log = new RecordingLogger();
  /** Promise that `lead` awaits after its signal has aborted. */
  tail: Promise<unknown> | undefined;
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;

  constructor(identity: string, client: Client, clock: FakeClock, seed = 1) {
    this.#run = runLeaderElection(
      {
        client,
        clock,
        random: new SeededRandom(seed),
        log: this.log,
        config: { namespace: 'kube-system', name: 'lock', identity },
        lead: async (signal, { term, giveUp }) => {
          this.onLead();
          this.terms++;
          this.numbers.push(term);
          this.giveUp = giveUp;
          this.leading = true;
          await new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
          this.leading = false;
          await this.tail;
        },
      },
      this.#stop.signal,
    );
  }

  abort(): void {
    this.#stop.abort();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }
}

test('the first candidate creates the lease, renews it and releases it when it stops', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1, 0, 0, 0, 250));
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  assert.equal(a.leading, true);
  assert.deepEqual(server.lease?.spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.250000Z',
    renewTime: '2026-01-01T00:00:00.250000Z',
    leaseTransitions: 0,
  });
  await clock.advance(6_000);
  assert.equal(server.writes, 4);
  assert.equal(server.lease?.spec.renewTime, '2026-01-01T00:00:06.250000Z');
  assert.equal(server.lease?.spec.acquireTime, '2026-01-01T00:00:00.250000Z');
  await a.stop();
  assert.deepEqual([server.lease?.spec.holderIdentity, server.lease?.spec.leaseDurationSeconds], ['', 1]);
  assert.equal(clock.pending, 0);
});

test('the Lease is released only after the work of the leader has ended', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  const tail = Promise.withResolvers<void>();
  a.tail = tail.promise;
  a.abort();
  await clock.settle();
  assert.equal(a.leading, false);
  assert.equal(server.lease?.spec.holderIdentity, 'a');
  tail.resolve();
  await a.stop();
  assert.equal(server.lease?.spec.holderIdentity, '');
});

for (const [what, isAnswered] of [
  ['that has not arrived', false],
  ['that is not answered', true],
] as const)
  test(`a renewal ${what} when its candidate stops does not keep the Lease`, async () => {
    const clock = new FakeClock();
    const server = new LeaseServer();
    const gate = Promise.withResolvers<void>();
    let renewals = 0;
    const hold = async (verb: string) => {
      if (verb === 'update' && ++renewals === 1) await gate.promise;
    };
    const client = isAnswered ? server.client(undefined, hold) : server.client(hold);
    const a = new Candidate('a', client, clock);
    await clock.advance(2_000);
    assert.equal(renewals, 1);
    a.abort();
    await clock.settle();
    gate.resolve();
    await a.stop();
    await clock.settle();
    assert.equal(server.lease?.spec.holderIdentity, '');
  });

test('a renewal that is never answered delays a stop only briefly', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate(
    'a',
    server.client(async (verb) => {
      if (verb === 'update' && server.writes === 1 && clock.now() === begun + 2_000)
        await new Promise(() => undefined);
    }),
    clock,
  );
  const begun = clock.now();
  await clock.advance(2_000);
  a.abort();
  await clock.advance(2_000);
  await a.stop();
  assert.equal(server.lease?.spec.holderIdentity, '');
});

test('another candidate takes over soon after a release, and a lease duration after a crash', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  let dead = false;
  const a = new Candidate(
    'a',
    server.client(async () => {
      if (dead) await new Promise(() => undefined);
    }),
    clock,
  );
  await clock.settle();
  const b = new Candidate('b', server.client(), clock, 2);
  await clock.advance(20_000);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  dead = true;
  await clock.advance(9_900);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  await clock.advance(2_200);
  assert.deepEqual([a.leading, b.leading], [false, false], 'fenced before another candidate can take over');
  await clock.advance(8_000);
  assert.deepEqual([a.leading, b.leading], [false, true]);
  assert.equal(server.lease?.spec.leaseTransitions, 1);
  await b.stop();
  await a.stop();
  assert.equal(server.lease?.spec.holderIdentity, '');
});

test('a candidate takes a released or deleted lease within a second, and sends no requests before', async () => {
  for (const free of ['released', 'deleted'] as const) {
    const clock = new FakeClock();
    const server = new LeaseServer();
    const a = new Candidate('a', server.client(), clock);
    await clock.settle();
    const asked: string[] = [];
    const b = new Candidate(
      'b',
      server.client((verb) => void asked.push(verb)),
      clock,
      2,
    );
    const c = new Candidate('c', server.client(), clock, 3);
    await clock.advance(60_000);
    assert.equal(asked.filter((verb) => verb === 'get').length, 1, 'it watches');
    assert.deepEqual([a.leading, b.leading, c.leading], [true, false, false]);
    if (free === 'released') await a.stop();
    else server.remove();
    await clock.advance(1_000);
    assert.equal([b, c].filter((candidate) => candidate.leading).length, 1, free);
    await clock.advance(2_000);
    assert.equal(a.leading, false);
    for (const candidate of [a, b, c]) await candidate.stop();
  }
});

test('a broken watch does not end the leadership, and candidates still notice a free lease', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  const b = new Candidate(
    'b',
    server.client((verb) => {
      if (verb === 'watch' || verb === 'list') throw new Error('connection refused');
    }),
    clock,
    2,
  );
  await clock.advance(100_000);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  await a.stop();
  await clock.advance(16_000);
  assert.equal(b.leading, true);
  await b.stop();
});

test('each term has a greater number, also after the lease was deleted or given up', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  a.giveUp('its writes are refused');
  await clock.advance(5_000);
  assert.deepEqual([a.leading, a.terms], [true, 2]);
  const b = new Candidate('b', server.client(), clock, 2);
  await clock.settle();
  server.remove();
  await clock.advance(3_000);
  assert.deepEqual([a.leading, b.leading], [false, true]);
  await b.stop();
  await clock.advance(5_000);
  assert.equal(a.leading, true);
  const numbers = [...a.numbers.slice(0, 2), ...b.numbers, ...a.numbers.slice(2)];
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((x, y) => x - y),
  );
  assert.equal(numbers.length, 4);
  await a.stop();
  assert.equal(clock.pending, 0);
});

test('a leader that finds another holder stops at once and becomes a candidate again', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  server.overwrite({ holderIdentity: 'thief' });
  await clock.advance(2_000);
  assert.equal(a.leading, false);
  assert.equal(server.lease?.spec.holderIdentity, 'thief', 'the Lease of another holder is not released');
  await clock.advance(25_000);
  assert.deepEqual([a.leading, a.terms], [true, 2]);
  await a.stop();
});

test('after a conflict the Lease is read again: another holder ends the leadership, and the candidate’s own name continues it', async () => {
  for (const holder of ['thief', 'a']) {
    const clock = new FakeClock();
    const server = new LeaseServer();
    let interfere = false;
    const a = new Candidate(
      'a',
      server.client((verb) => {
        if (verb !== 'update' || !interfere) return;
        interfere = false;
        server.overwrite({ holderIdentity: holder });
      }),
      clock,
    );
    await clock.settle();
    interfere = true;
    await clock.advance(2_000);
    assert.equal(a.leading, holder === 'a');
    await a.stop();
  }
});

test('only one of three candidates that create the lease at the same time leads', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  const candidates = ['a', 'b', 'c'].map((identity, i) => new Candidate(identity, server.client(), clock, i));
  await clock.settle();
  gate.resolve();
  await clock.advance(30_000);
  assert.equal(candidates.filter((candidate) => candidate.leading).length, 1);
  for (const candidate of candidates) await candidate.stop();
});

test('a leader keeps its leadership during a short outage, and loses it in a long one', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = new Candidate('a', server.client(), clock);
  await clock.settle();
  server.down = true;
  await clock.advance(7_000);
  server.down = false;
  await clock.advance(10_000);
  assert.deepEqual([a.leading, a.terms], [true, 1]);
  server.down = true;
  await clock.advance(12_000);
  assert.equal(a.leading, false);
  server.down = false;
  await clock.advance(5_000);
  assert.deepEqual([a.leading, a.terms], [true, 2], 'it takes back its own lease at once');
  await a.stop();
});

for (const [what, verb, answeredAt, until] of [
  ['the acquisition of its lease', 'create', 9_000, 10_000],
  // The renewal is requested after 2 s.
  ['its renewal', 'update', 9_000, 12_000],
] as const) {
  test(`a leadership is counted from the request of ${what}, even if the answer arrives late`, async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const server = new LeaseServer();
    const after = async (done: string) => {
      if (done !== verb) return;
      await new Promise<void>((resolve) => clock.after(start + answeredAt - clock.now(), resolve));
      server.down = true;
    };
    const a = new Candidate('a', server.client(undefined, after), clock);
    await clock.advance(until - 1);
    assert.equal(a.leading, true);
    await clock.advance(1);
    assert.equal(a.leading, false);
    await a.stop();
  });
}

test('a candidate that acquires its lease too late does not lead, not even for a moment', async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  let lateMs = 20_000;
  const after = async (verb: string) => {
    if (verb === 'create') await new Promise<void>((resolve) => clock.after(lateMs, resolve));
    lateMs = 0;
  };
  const a = new Candidate('a', server.client(undefined, after), clock);
  await clock.settle();
  const b = new Candidate('b', server.client(), clock, 2);
  await clock.advance(19_000);
  assert.deepEqual([a.terms, b.leading], [0, true]);
  await clock.advance(30_000);
  assert.deepEqual([a.terms, b.leading], [0, true]);
  await b.stop();
  await clock.advance(1_000);
  assert.deepEqual([a.leading, a.terms], [true, 1]);
  await a.stop();
});

test('two candidates never lead at the same time, for any series of outages', async () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = new SeededRandom(seed);
    const clock = new FakeClock();
    const server = new LeaseServer();
    const cut = [false, false, false];
    let overlaps = 0;
    const late = () => new Promise<void>((resolve) => clock.after(random.below(40_000), resolve));
    const candidates: Candidate[] = cut.map((_, i) => {
      const before = async () => {
        if (!cut[i]) return;
        if (random.below(2)) throw new Error('connection refused');
        await late();
      };
      const after = async () => {
        if (cut[i] && random.below(2)) await late();
      };
      const candidate = new Candidate(`candidate-${i}`, server.client(before, after), clock, seed * 10 + i);
      candidate.onLead = () => {
        overlaps += candidates.filter(({ leading }) => leading).length;
      };
      return candidate;
    });
    let terms = 0;
    for (let step = 0; step < 150; step++) {
      const which = random.below(3);
      if (random.below(4) === 0) cut[which] = !cut[which];
      await clock.advance(random.below(2_000));
      const leaders = candidates.filter((candidate) => candidate.leading).length;
      assert.ok(leaders <= 1, `${leaders} lead at once, seed ${seed}, step ${step}`);
    }
    cut.fill(false);
    await clock.advance(90_000);
    terms = candidates.reduce((sum, candidate) => sum + candidate.terms, 0);
    assert.ok(terms >= 1);
    assert.equal(overlaps, 0, `one began to lead while another led, seed ${seed}`);
    assert.equal(candidates.filter((candidate) => candidate.leading).length, 1, `seed ${seed}`);
    for (const candidate of candidates) await candidate.stop();
  }
});
