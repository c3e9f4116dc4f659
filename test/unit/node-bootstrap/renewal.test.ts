import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { keepRenewed, renewalTime } from '../../../src/node-bootstrap/renewal.ts';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const start = Date.UTC(2026, 0, 1);
const [minute, day] = [60_000, 86_400_000];
const authority = await createAuthority('test', start - day, start + 4000 * day);

const issue = (notBefore: number, lifeMs: number) =>
  issueCertificate(authority, {
    commonName: 'a',
    usages: ['client'],
    notBefore,
    notAfter: notBefore + lifeMs,
  });

type Signer = (now: number) => Promise<KeyAndCertificate>;

function keep(first: KeyAndCertificate | undefined, next: number | Signer, failures = 0) {
  const sign: Signer = typeof next === 'number' ? (now) => issue(now, next) : next;
  const clock = new FakeClock(start);
  const identity = replaceable(first);
  const times: number[] = [];
  const stop = new AbortController();
  let left = failures;
  const ended = keepRenewed(
    {
      identity,
      what: 'certificate',
      clock,
      random: new SeededRandom(5),
      log: silentLogger,
      renew: () => {
        if (left-- > 0) return Promise.reject(new Error('not now'));
        times.push(clock.now());
        return sign(clock.now());
      },
    },
    stop.signal,
  );
  const end = async () => {
    stop.abort();
    await ended;
    assert.equal(clock.pending, 0);
  };
  return { clock, identity, times, end };
}

/** Runs the event loop until `ready` returns true: threads generate keys, which takes many turns. */
async function rest(clock: FakeClock, ready: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !ready(); turn++) await clock.settle();
  assert.ok(ready());
}

test('certificates are due between 70 and 90 % of their validity, at different times', async () => {
  const pair = await issue(start, 10 * minute);
  const random = new SeededRandom(1);
  const times = Array.from({ length: 200 }, () => (renewalTime(pair, random) - start) / (10 * minute));
  assert.ok(Math.min(...times) >= 0.7 && Math.min(...times) < 0.72, String(Math.min(...times)));
  assert.ok(Math.max(...times) <= 0.9 && Math.max(...times) > 0.88, String(Math.max(...times)));
});

test('certificates of ten minutes are renewed one after the other', async () => {
  const { clock, identity, times, end } = keep(await issue(start, 10 * minute), 10 * minute);
  for (let round = 1; round <= 3; round++) {
    const { value } = identity;
    const issued = times.at(-1) ?? start;
    await clock.advance(issued + 7 * minute - 1 - clock.now());
    assert.equal(identity.value, value);
    await clock.advance(2 * minute + 2);
    await rest(clock, () => identity.value !== value);
    assert.equal(times.length, round);
    assert.ok((times.at(-1) ?? 0) <= issued + 9 * minute);
  }
  await end();
});

test('a missing certificate is requested at once; a wait of a year is divided into steps that timers support', async () => {
  const { clock, identity, times, end } = keep(undefined, 365 * day);
  await rest(clock, () => identity.value !== undefined && clock.pending === 1);
  assert.deepEqual(times, [start]);
  assert.ok((clock.nextIn ?? 0) <= day);
  await clock.advance(250 * day);
  assert.equal(times.length, 1);
  await clock.advance(80 * day);
  await rest(clock, () => times.length === 2);
  await end();
});

test('a failed renewal is retried at growing intervals, while the old certificate is in use', async () => {
  const first = await issue(start - 8 * minute, 8 * minute);
  const { clock, identity, times, end } = keep(first, 10 * minute, 3);
  await clock.advance(1_999);
  assert.equal(identity.value, first);
  await clock.advance(20_000);
  await rest(clock, () => identity.value !== first);
  assert.equal(times.length, 1);
  await end();
});

test('a clock far ahead causes no endless requests for a certificate that is due at once', async () => {
  const ended = () => issue(start - 364 * day, 365 * day);
  const { clock, times, end } = keep(await ended(), ended);
  await rest(clock, () => times.length === 1 && clock.pending === 1);
  assert.equal(clock.nextIn, minute);
  await clock.advance(minute);
  await rest(clock, () => times.length === 2 && clock.pending === 1);
  await end();
});
