import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority } from '../../../../src/pki/x509.ts';
import { authorityIn, authorityKey } from '../../../../src/roles/master/shared-authority.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const day = 24 * 3600 * 1000;
const make = () => createAuthority('minik8s', Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + day);
const unasked = () => assert.fail('no authority has to be made');

test('the first master that writes an authority decides, and the others use it', async () => {
  const store = createMemoryStore();
  const agree = authorityIn(store, '/var/lib/minik8s/pki');
  const all = await Promise.all([agree(undefined, make), agree(undefined, make), agree(undefined, make)]);
  const [first] = all;
  for (const authority of all) assert.deepEqual(authority, first);
  assert.deepEqual(await agree(undefined, unasked), first);
  assert.deepEqual(await agree(first, unasked), first, 'the first master keeps it after a restart');
  assert.deepEqual((await store.list('/registry/')).items, [], 'requests to the API cannot read it');
});

test('a cluster that had one master keeps its authority when it gets more', async () => {
  const store = createMemoryStore();
  const own = await make();
  const agree = authorityIn(store, '/var/lib/minik8s/pki');
  assert.deepEqual(await agree(own, unasked), own);
  assert.deepEqual(await agree(undefined, unasked), own);
});

test('a master with another authority fails with one line, and changes nothing', async () => {
  const store = createMemoryStore();
  const agree = authorityIn(store, '/var/lib/minik8s/pki');
  const theirs = await agree(undefined, make);
  const other = await make();
  for (const own of [other, { ...theirs, key: other.key }]) {
    await assert.rejects(agree(own, unasked), ({ message }: Error) => {
      assert.match(
        message,
        /^\/var\/lib\/minik8s\/pki holds the certificate authority sha256:[0-9a-f]{64}, but the/,
      );
      assert.match(message, /move \/var\/lib\/minik8s\/pki away to join them/);
      assert.doesNotMatch(message, /\n|PRIVATE KEY/);
      return true;
    });
  }
  assert.deepEqual(await agree(undefined, unasked), theirs);
});

test('one of two masters that bring different authorities at once is refused', async () => {
  const store = createMemoryStore();
  const agree = authorityIn(store, '/pki');
  const brought = await Promise.all([make(), make()]);
  const results = await Promise.allSettled(brought.map((own) => agree(own, unasked)));
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('an unreadable value is an error that does not show the value', async () => {
  const { certificate } = await make();
  const unfit = [
    { ...(await make()), certificate },
    { key: 'secret', certificate },
  ];
  for (const bad of ['', 'secret', '{"key":"secret"}', '[]', ...unfit.map((pair) => JSON.stringify(pair))]) {
    const store = createMemoryStore();
    await store.create(authorityKey, Buffer.from(bad));
    await assert.rejects(authorityIn(store, '/pki')(undefined, make), ({ message }: Error) => {
      assert.match(
        message,
        /^\/pki\/authority in etcd does not hold a certificate authority: delete the key/,
      );
      assert.doesNotMatch(message, /secret|PRIVATE KEY/);
      return true;
    });
  }
});
