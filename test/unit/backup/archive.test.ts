/** The file of a backup, read by minik8s and by other programs. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, test } from 'node:test';
import { readArchive, writeArchive } from '../../../src/backup/archive.ts';
import { BackupError, type Manifest } from '../../../src/backup/manifest.ts';
import { fileSource } from '../../../src/backup/source.ts';
import { systemExec } from '../../../src/os/exec.ts';

let directory: string;
let files: Map<string, string>;
let manifest: Manifest;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-backup-'));
  const contents = {
    'etcd.db': randomBytes(300_001),
    'pki/ca.key': Buffer.from('key\n'),
    'pki/ca.crt': Buffer.alloc(0),
    'pki/front.key': Buffer.from('x'),
  };
  files = new Map();
  const members: Record<string, { size: number; sha256: string }> = {};
  for (const [name, content] of Object.entries(contents)) {
    const path = join(directory, name.replace('/', '-'));
    await writeFile(path, content);
    files.set(name, path);
    members[name] = { size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  }
  const about = {
    format: 1,
    minik8s: 'x',
    created: '2026-11-29T09:17:29Z',
    host: 'h',
    revision: 1,
    keys: 1,
  } as const;
  manifest = { ...about, members };
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const pathOf = (name = 'backup') => join(directory, name);

/** Reads a backup and resolves to the digests of its members. */
async function digestsOf(path: string, passphrase?: string) {
  const digests: Record<string, string> = {};
  const read = await readArchive(fileSource(path), passphrase, async () => async (name, content) => {
    const hash = createHash('sha256');
    for await (const part of content) hash.update(part);
    digests[name] = hash.digest('hex');
  });
  return { digests, manifest: read };
}

const stored = () =>
  Object.fromEntries(Object.entries(manifest.members).map(([name, { sha256 }]) => [name, sha256]));

for (const passphrase of [undefined, 'correct horse'])
  test(`a backup is read back identically, ${passphrase ? 'encrypted' : 'not encrypted'}`, async () => {
    const size = await writeArchive(pathOf(), { manifest, files }, passphrase);
    const { mode, size: onDisk } = await stat(pathOf());
    assert.deepEqual([mode & 0o777, onDisk], [0o600, size]);
    assert.deepEqual(await digestsOf(pathOf(), passphrase), { digests: stored(), manifest });
    assert.ok(!(await readdir(directory)).includes('backup.part'));
  });

test('tar and zstd open an unencrypted backup', async () => {
  await writeArchive(pathOf(), { manifest, files }, undefined);
  const { stdout } = await systemExec('sh', ['-c', 'zstd -dc "$1" | tar -xO pki/ca.key', 'sh', pathOf()]);
  assert.equal(stdout, 'key\n');
});

test('an encrypted backup begins as files of age do, and contains no plain text', async () => {
  await writeArchive(pathOf(), { manifest, files }, 'correct horse');
  const content = await readFile(pathOf());
  assert.match(content.toString('latin1', 0, 60), /^age-encryption\.org\/v1\n-> scrypt /);
  assert.ok(!content.includes('ustar') && !content.includes('backup.json'));
});

test('an unencrypted backup is refused if a passphrase is given', async () => {
  await writeArchive(pathOf(), { manifest, files }, undefined);
  await assert.rejects(
    digestsOf(pathOf(), 'correct horse'),
    /^BackupError: .* is not encrypted, so anybody may have made it/,
  );
});

test('a file that changes its size while it is stored makes the backup fail', async () => {
  await writeFile(files.get('pki/ca.key') ?? '', 'longer than before\n');
  await assert.rejects(
    writeArchive(pathOf(), { manifest, files }, undefined),
    /has changed while it was stored/,
  );
  assert.ok(!(await readdir(directory)).includes('backup'));
});

test('drafts of killed processes are removed, and drafts of this process are kept', async () => {
  await writeFile(pathOf('minik8s-x.tar.zst.minik8s-4194305-0'), 'left');
  await writeFile(pathOf(`minik8s-y.tar.zst.minik8s-${process.pid}-99999`), 'used');
  await writeArchive(pathOf(), { manifest, files }, undefined);
  const names = await readdir(directory);
  assert.ok(
    !names.some((name) => name.includes('-4194305-')) && names.some((name) => name.endsWith('-99999')),
  );
});

test('a wrong passphrase, and none, are refused in one line', async () => {
  await writeArchive(pathOf(), { manifest, files }, 'correct horse');
  await assert.rejects(
    digestsOf(pathOf(), 'wrong'),
    /^BackupError: the passphrase does not open this backup$/,
  );
  await assert.rejects(
    digestsOf(pathOf()),
    /^BackupError: .* is encrypted: give its passphrase with --passphrase-file$/,
  );
});

for (const passphrase of [undefined, 'correct horse'])
  test(`a backup that is truncated at any position is rejected, ${passphrase ? 'encrypted' : 'not encrypted'}`, async () => {
    const size = await writeArchive(pathOf(), { manifest, files }, passphrase);
    const content = await readFile(pathOf());
    // Each attempt with a passphrase takes a second.
    const lengths = passphrase
      ? [40, size - 70_000, size - 1]
      : [0, 1, 300, 5_000, size >> 1, size - 30, size - 1];
    for (const length of lengths) {
      await writeFile(pathOf('cut'), content.subarray(0, length));
      await assert.rejects(
        digestsOf(pathOf('cut'), passphrase),
        (error) => error instanceof BackupError,
        `${length} of ${size} bytes`,
      );
    }
  });

test('a changed byte at any position is detected', async () => {
  const size = await writeArchive(pathOf(), { manifest, files }, undefined);
  const content = await readFile(pathOf());
  for (const at of [0, 30, 600, 2_000, size >> 1, size - 1_000, size - 5]) {
    const changed = Buffer.from(content);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    await writeFile(pathOf('changed'), changed);
    await assert.rejects(digestsOf(pathOf('changed')), (error) => error instanceof BackupError, `byte ${at}`);
  }
});

test('an additional, repeated, missing or changed member is refused', async () => {
  const { 'pki/front.key': key, ...others } = manifest.members;
  await writeArchive(
    pathOf(),
    {
      manifest: { ...manifest, members: others },
      files: new Map([...files].filter(([name]) => name !== 'pki/front.key')),
    },
    undefined,
  );
  assert.deepEqual(Object.keys((await digestsOf(pathOf())).digests), ['etcd.db', 'pki/ca.key', 'pki/ca.crt']);
  const without = new Map([...files].filter(([name]) => name !== 'pki/front.key'));
  await writeArchive(pathOf('missing'), { manifest, files: without }, undefined);
  await assert.rejects(digestsOf(pathOf('missing')), /pki\/front.key is missing/);
  const members = { ...others, 'pki/front.key': { size: key?.size ?? 0, sha256: '00' } };
  await writeArchive(pathOf('other'), { manifest: { ...manifest, members }, files }, undefined);
  await assert.rejects(digestsOf(pathOf('other')), /pki\/front.key differs from the stored file/);
});

test('files that are not backups are refused', async () => {
  for (const content of ['', 'hello', 'age-encryption.org/v1\n']) {
    await writeFile(pathOf('no'), content);
    const passphrase = content.startsWith('age') ? 'x' : undefined;
    await assert.rejects(digestsOf(pathOf('no'), passphrase), (error) => error instanceof BackupError);
  }
  await systemExec('sh', ['-c', 'cd "$1" && tar -cf - etcd.db | zstd -q -o no.tar.zst', 'sh', directory]);
  await assert.rejects(digestsOf(pathOf('no.tar.zst')), /this file is no backup of minik8s/);
});

test('an error of the reader is returned unchanged, and a full disk leaves no file behind', async () => {
  await writeArchive(pathOf(), { manifest, files }, undefined);
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const failing = readArchive(fileSource(pathOf()), undefined, async () => async () => {
    throw full;
  });
  await assert.rejects(failing, full);
  const unwritable = readArchive(
    fileSource(pathOf()),
    undefined,
    async () => (_, content) => pipeline(content, createWriteStream('/dev/full')),
  );
  await assert.rejects(unwritable, /ENOSPC/);
  files.set('etcd.db', pathOf('gone'));
  await assert.rejects(writeArchive(pathOf('new'), { manifest, files }, undefined), /ENOENT/);
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.startsWith('new')),
    [],
  );
});
