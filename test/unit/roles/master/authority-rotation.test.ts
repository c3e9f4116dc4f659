/** Rotation of the certificate authority in a store that two masters share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { authorityHash } from '../../../../src/pki/authority-hash.ts';
import { newAuthority } from '../../../../src/pki/credentials.ts';
import { AuthorityRotation, rotationKey } from '../../../../src/roles/master/authority-rotation.ts';
import { authorityKey } from '../../../../src/roles/master/shared-authority.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const own = await newAuthority(now);
const options = { nodes: [], own, make: () => newAuthority(now) };
const late = { ...options, nodes: [{ name: 'a', trusts: [], issuers: [] }] };

test('each master follows the steps of the other, and the store has the next authority after the rotation', async () => {
  const store = createMemoryStore();
  await store.create(authorityKey, Buffer.from(JSON.stringify(own)));
  const [first, second] = [
    await AuthorityRotation.open(store, () => true),
    await AuthorityRotation.open(store, () => true),
  ];
  const stop = new AbortController();
  const clock = new FakeClock();
  const following = second.follow({ clock, log: silentLogger }, stop.signal);
  const phases: (string | undefined)[] = [];
  second.record.onChange((record) => phases.push(record?.phase));
  const followed = async (count: number) => {
    while (phases.length < count) await clock.settle();
  };
  await clock.settle();

  assert.equal(await first.step('trust', options), undefined);
  await followed(1);
  const next = second.record.value?.next;
  assert.ok(next);
  assert.match((await first.step('issue', late)) ?? '', /a does not trust the next authority/);
  assert.equal(first.record.value?.phase, 'trust');
  assert.equal(await second.step('issue', options), undefined);
  assert.equal(await first.step('trust', options), undefined, 'a rotation that has begun is no error');
  await followed(2);
  assert.equal(await first.step('finish', options), undefined);
  await followed(3);
  assert.deepEqual(phases, ['trust', 'issue', 'finish']);
  assert.equal(second.record.value?.former, authorityHash(own.certificate));
  assert.deepEqual(JSON.parse(String((await store.get(authorityKey))?.value)), next);
  stop.abort();
  await following;
});

test('a master that was killed before it stored the next authority stores it at its next start', async () => {
  const store = createMemoryStore();
  await store.create(authorityKey, Buffer.from(JSON.stringify(own)));
  const next = await newAuthority(now);
  const record = { phase: 'finish', next, former: authorityHash(own.certificate) };
  await store.create(rotationKey, Buffer.from(JSON.stringify(record)));
  await AuthorityRotation.open(store, () => false);
  assert.deepEqual(
    JSON.parse(String((await store.get(authorityKey))?.value)),
    own,
    'masters do not take the authority from this store',
  );
  await AuthorityRotation.open(store, () => true);
  assert.deepEqual(JSON.parse(String((await store.get(authorityKey))?.value)), next);
});
