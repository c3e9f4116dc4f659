import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockedPackage, requireIntegrity } from '../../../../config/release/fetch-node.ts';

const lockFile = readFileSync(join(import.meta.dirname, '../../../../package-lock.json'), 'utf8');

test('Node has the same version for both architectures, with digests of their own', () => {
  const [x64, arm64] = ['x64', 'arm64'].map((arch) => lockedPackage(lockFile, `node-linux-${arch}`));
  assert.equal(x64?.version, arm64?.version);
  assert.match(arm64?.integrity ?? '', /^sha512-/);
  assert.notEqual(x64?.integrity, arm64?.integrity);
  assert.throws(() => lockedPackage(lockFile, 'node-linux-none'), {
    message: /no digest of node-linux-none/,
  });
});

test('an archive whose digest differs from package-lock.json is rejected', () => {
  const integrity =
    'sha512-sRU36Ok1DOcSWqYvA3z8E7szGJ0jPd3ewR+Oo3NRdlDSb053ZXua6gAZX/g3UdaiFCZ0yyF+PzssiRO+IXhDRA==';
  requireIntegrity('one', Buffer.from('archive'), integrity);
  assert.throws(() => requireIntegrity('one', Buffer.from('Archive'), integrity), {
    message: /^one has the digest sha512-.*, but package-lock\.json has sha512-/,
  });
});
