/** Sealed sessions, and the files of the app in one asset. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acceptsBrotli } from '../../../../src/dashboard/server/app-files.ts';
import { readPack, writePack } from '../../../../src/dashboard/server/asset-pack.ts';
import { endOfToken } from '../../../../src/dashboard/server/credential.ts';
import { seal, unseal } from '../../../../src/dashboard/server/seal.ts';
import { maxSealed, newSession, openSession } from '../../../../src/dashboard/server/session.ts';

const [old, current, foreign] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];

describe('a sealed text', () => {
  test('is opened with each known key, and with no other', () => {
    const sealed = seal(old, 'purpose', 'text');
    assert.equal(unseal([current, old], 'purpose', sealed), 'text');
    assert.equal(unseal([current, foreign], 'purpose', sealed), undefined);
    assert.equal(unseal([], 'purpose', sealed), undefined);
  });

  test('is opened only for its purpose', () => {
    assert.equal(unseal([old], 'another', seal(old, 'purpose', 'text')), undefined);
  });

  test('is not opened after any change', () => {
    const sealed = seal(old, 'purpose', 'text');
    for (let i = 0; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A';
      assert.equal(unseal([old], 'purpose', sealed.slice(0, i) + other + sealed.slice(i + 1)), undefined);
      assert.equal(unseal([old], 'purpose', sealed.slice(0, i)), undefined);
    }
    assert.equal(unseal([old], 'purpose', `${sealed}=`), undefined);
  });

  test('is different each time', () => {
    assert.notEqual(seal(old, 'purpose', 'text'), seal(old, 'purpose', 'text'));
  });
});

describe('a session', () => {
  const keysOf = (...secrets: Buffer[]) => ({ keys: { derive: () => secrets }, now: () => 1000 });
  const content = { credential: { token: 'secret' }, until: 2000 };
  const made = () => newSession(content, keysOf(old)) ?? assert.fail('no session');

  test('survives a replacement of the key while the old one is known', () => {
    assert.deepEqual(openSession(made(), keysOf(current, old)), content);
    assert.equal(openSession(made(), keysOf(current)), undefined);
  });

  test('is not opened after its end, without its proof, or with the proof of another session', () => {
    assert.equal(openSession(made(), { ...keysOf(old), now: () => 2000 }), undefined);
    assert.equal(openSession({ ...made(), proof: made().proof }, keysOf(old)), undefined);
    assert.equal(openSession({ ...made(), proof: '' }, keysOf(old)), undefined);
  });

  test('fits into a cookie of a browser, or is not created', () => {
    const of = (length: number) =>
      newSession({ ...content, credential: { token: 'x'.repeat(length) } }, keysOf(old));
    assert.ok((of(2600)?.sealed.length ?? 0) <= maxSealed);
    assert.equal(of(3000), undefined);
  });
});

test('a token ends at the time in its claims, and never if its claims have no time', () => {
  const token = (claims: string) => `h.${Buffer.from(claims).toString('base64url')}.s`;
  assert.equal(endOfToken(token('{"exp":1700000000}')), 1_700_000_000_000);
  for (const other of [
    'plain',
    'abcdef.0123456789abcdef',
    token('{}'),
    token('{'),
    token('{"exp":"1"}'),
    'a.b.c',
  ])
    assert.equal(endOfToken(other), Number.POSITIVE_INFINITY, other);
});

test('a pack has each file under its path', () => {
  const files = [
    { path: 'index.html', digest: 'a', compressed: Buffer.from('page') },
    { path: 'assets/ä.js', digest: 'b', compressed: Buffer.from('') },
    { path: 'assets/x.css', digest: 'c', compressed: Buffer.from('style') },
  ];
  const read = readPack(Buffer.concat([Buffer.from('before'), writePack(files)]).subarray(6));
  assert.deepEqual(
    [...read.keys()],
    files.map(({ path }) => path),
  );
  for (const { path, digest, compressed } of files) {
    assert.equal(read.get(path)?.digest, digest);
    assert.deepEqual(Buffer.from(read.get(path)?.compressed ?? []), compressed);
  }
  assert.equal(readPack(writePack([])).size, 0);
});

test('brotli is used for clients that accept it', () => {
  for (const header of ['br', 'gzip, deflate, br', 'GZIP;q=0.5, BR;q=0.1'])
    assert.ok(acceptsBrotli(header), header);
  for (const header of ['', 'gzip', 'br;q=0', 'br;q=0.0', 'brotli', '*'])
    assert.ok(!acceptsBrotli(header), header);
});
