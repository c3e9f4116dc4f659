import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BackupError,
  backupFileName,
  formatManifest,
  isMemberName,
  type Manifest,
  parseManifest,
  readFileName,
} from '../../../src/backup/manifest.ts';

const member = { size: 3, sha256: 'ab' };
const manifest: Manifest = {
  format: 1,
  minik8s: '0.1.0',
  created: '2026-11-29T09:17:29Z',
  host: 'vm1',
  revision: 195,
  keys: 190,
  members: { 'etcd.db': member, 'pki/ca.crt': member, 'pki/ca.key': member, 'config/master.yaml': member },
};

test('a manifest is read back as written', () => {
  assert.deepEqual(parseManifest(formatManifest(manifest)), manifest);
});

test('a backup of a newer version is rejected with the name of that version', () => {
  assert.throws(
    () => parseManifest(JSON.stringify({ ...manifest, format: 2, minik8s: '9.0.0' })),
    /^BackupError: the backup was made by a newer minik8s \(9.0.0\): use that version/,
  );
});

const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['text that is not JSON', '{', /backup.json is not JSON/],
  ['a list instead of an object', '[]', /is no object/],
  ['no format', JSON.stringify({ ...manifest, format: undefined }), /no known format/],
  ['format 0', JSON.stringify({ ...manifest, format: 0 }), /no known format/],
  ['no host', JSON.stringify({ ...manifest, host: 1 }), /host is no text/],
  ['a negative revision', JSON.stringify({ ...manifest, revision: -1 }), /revision is no number/],
  ['a number of keys that is not whole', JSON.stringify({ ...manifest, keys: 1.5 }), /keys is no number/],
  ['members that are a list', JSON.stringify({ ...manifest, members: [] }), /members is no object/],
  [
    'a member without a size',
    JSON.stringify({ ...manifest, members: { 'etcd.db': {} } }),
    /size is no number/,
  ],
  ['no database', JSON.stringify({ ...manifest, members: { 'pki/ca.key': member } }), /it has no etcd.db/],
  [
    'no key of the authority',
    JSON.stringify({ ...manifest, members: { 'etcd.db': member, 'pki/ca.crt': member } }),
    /it has no pki\/ca.key/,
  ],
  [
    'a member whose path leaves its folder',
    JSON.stringify({ ...manifest, members: { 'etcd.db': member, 'pki/../../etc/passwd': member } }),
    /the name "pki\/..\/..\/etc\/passwd" of a member is not allowed/,
  ],
];
for (const [name, text, expected] of wrong)
  test(`a manifest with ${name} is refused`, () => {
    assert.throws(
      () => parseManifest(text),
      (error: unknown) => error instanceof BackupError && expected.test(error.message),
    );
  });

test('names of members that leave their folders are rejected', () => {
  for (const name of ['etcd.db', 'pki/ca.key', 'pki/.hidden', 'config/master.yaml', 'pki/..a'])
    assert.ok(isMemberName(name), name);
  for (const name of [
    'pki/..',
    'pki/.',
    'pki/',
    'pki/a/b',
    '/etc/passwd',
    'etcd.db2',
    'other/x',
    'config/other.yaml',
    '__proto__',
    'pki/a\n',
  ])
    assert.ok(!isMemberName(name), name);
});

test('the name of a file contains its creation time and a suffix, and shows whether it is encrypted', () => {
  const [plain = '', locked = ''] = [false, true].map((encrypted) =>
    backupFileName('2026-11-29T09:17:29Z', 'x4k2p', encrypted),
  );
  assert.equal(plain, 'minik8s-2026-11-29T09-17-29Z-x4k2p.tar.zst');
  assert.deepEqual(readFileName(plain), { created: '2026-11-29T09:17:29Z', isEncrypted: false });
  assert.deepEqual(readFileName(locked), { created: '2026-11-29T09:17:29Z', isEncrypted: true });
  const former = 'minik8s-2026-11-29T09-17-29Z.tar.zst';
  assert.deepEqual(readFileName(former), { created: '2026-11-29T09:17:29Z', isEncrypted: false });
  for (const other of ['minik8s.tar.zst', `${plain}.part`, 'minik8s-2026-11-29T09-17-29Z-x.tar.zst'])
    assert.equal(readFileName(other), undefined);
});
