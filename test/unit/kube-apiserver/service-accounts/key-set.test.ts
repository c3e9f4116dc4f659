/** Signing key, verification keys, and the replacement of a key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newKeyPair } from '../../../../src/kube-apiserver/service-accounts/jws.ts';
import {
  allowUntil,
  firstKey,
  type KeySet,
  planKeys,
  readKeys,
  signerAt,
  writeKeys,
} from '../../../../src/kube-apiserver/service-accounts/key-set.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const age = 90 * day;
const start = Date.UTC(2026, 0, 1);
const first = firstKey(newKeyPair(), start, age);
const plan = (keys: KeySet, now: number) => planKeys(keys, now, age, newKeyPair);
const known = (keys: KeySet) => keys.map(({ publicKey }) => publicKey);
const [one] = known(first);

/** Carries out every step from a moment to another, each when it is due. */
function live(keys: KeySet, from: number, to: number): KeySet {
  let [now, current] = [from, keys];
  for (let step = 0; now <= to; step++) {
    assert.ok(step < 1000, 'the plan never comes to rest');
    const next = plan(current, now);
    current = next.keys;
    assert.ok(next.next > now, 'what is done is not due again');
    now = next.next;
  }
  return current;
}

test('the first key signs at once, and nothing happens before the next key is due', () => {
  assert.equal(signerAt(first, start)?.publicKey, one);
  assert.equal(signerAt(first, start - day)?.publicKey, one, 'with the clock set back');
  const { keys, next } = plan(first, start);
  assert.equal(keys, first);
  assert.equal(next, start + age - hour);
});

test('a new key is published an hour before it signs, and the old one still verifies', () => {
  const due = start + age - hour;
  const { keys, next } = plan(first, due);
  assert.equal(keys.length, 2);
  assert.equal(signerAt(keys, due)?.publicKey, one);
  assert.equal(signerAt(keys, due + hour - 1)?.publicKey, one);
  assert.equal(signerAt(keys, due + hour)?.publicKey, keys[1]?.publicKey);
  assert.notEqual(keys[1]?.publicKey, one);
  assert.equal(plan(keys, due + 1).keys, keys, 'one is enough');
  assert.equal(next, due + 2 * hour, 'the old one loses its private key an hour after the change');
  const retired = plan(keys, next).keys;
  assert.deepEqual(known(retired), known(keys));
  assert.deepEqual(
    retired.map(({ privateKey }) => privateKey !== undefined),
    [false, true],
  );
});

test('an old key is removed when the last token that it signed has expired, and not before', () => {
  const until = start + age + year;
  assert.ok(known(live(first, start, until)).includes(one ?? ''));
  assert.ok(!known(live(first, start, until + hour)).includes(one ?? ''));
  const all = live(first, start, start + 10 * year);
  assert.ok(all.length <= 7, `${all.length} keys are kept`);
  assert.equal(all.filter(({ privateKey }) => privateKey).length, 1);
});

test('a key that has signed a longer token verifies for longer, and forever if that has no end', () => {
  const [signer] = first;
  assert.ok(signer);
  const within = start + age + year;
  assert.equal(allowUntil(first, signer, within), first, 'what is foreseen is not written');
  const longer = allowUntil(first, signer, within + 1);
  assert.equal(longer[0]?.signedUntil, within + 1 + year);
  assert.equal(
    allowUntil(longer, longer[0] as never, within + 2),
    longer,
    'a second token with the same lifetime changes nothing',
  );
  assert.ok(known(live(longer, start, within + day)).includes(one ?? ''));
  const endless = allowUntil(first, signer, null);
  assert.equal(allowUntil(endless, endless[0] as never, null), endless);
  assert.equal(allowUntil(endless, endless[0] as never, within * 2), endless);
  assert.ok(known(live(endless, start, start + 50 * year)).includes(one ?? ''));
});

test('a key without an end is not replaced', () => {
  const endless = Number.POSITIVE_INFINITY;
  const [key, ...more] = readKeys(writeKeys(firstKey(newKeyPair(), start, endless))) ?? [];
  assert.ok(key && more.length === 0);
  const { keys, next } = planKeys([key], start + 50 * year, endless, newKeyPair);
  assert.deepEqual([keys, next], [[key], endless]);
});

test('keys are stored unchanged, and other data are not accepted as keys', () => {
  const { keys } = plan(plan(first, start + age - hour).keys, start + age + hour);
  assert.deepEqual(readKeys(writeKeys(keys)), keys);
  const [key] = first;
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  const stranger = newKeyPair();
  for (const [what, bytes] of [
    ['no JSON', Buffer.from('{')],
    ['a list', text([key])],
    ['no keys', text({ keys: [] })],
    ['null', text(null)],
    ['a key that cannot sign', text({ keys: [{ ...key, privateKey: undefined }] })],
    ['another private key', text({ keys: [{ ...key, privateKey: stranger.privateKey }] })],
    ['a damaged key', text({ keys: [{ ...key, publicKey: 'x' }] })],
    ['no time', text({ keys: [{ ...key, signsFrom: undefined }] })],
    ['no limit', text({ keys: [{ ...key, signedUntil: undefined }] })],
  ] as const)
    assert.equal(readKeys(bytes), undefined, what);
});
