/** The file of a backup, read by minik8s and by other programs. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createZstdCompress } from 'node:zlib';
import { readArchive, writeArchive } from '../../../src/backup/archive.ts';
import { BackupError, formatManifest, type Manifest } from '../../../src/backup/manifest.ts';
import { fileSource } from '../../../src/backup/source.ts';
import { archiveEnd, memberHeader, padding } from '../../../src/formats/tar-archive.ts';
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

/** Archives that no minik8s has made. `members` follow the manifest. */
describe('a hostile archive', () => {
  const file = { type: 'file', mode: 0o600, uid: 0, gid: 0, modified: 0 } as const;
  const member = (name: string, content: Buffer, size = content.length) => [
    memberHeader({ ...file, name, size }),
    content,
    padding(content.length),
  ];
  const text = () => Buffer.from(formatManifest(manifest));
  const whole = async () => {
    const members: Uint8Array[] = [];
    for (const [name, path] of files) members.push(...member(name, await readFile(path)));
    return members;
  };

  async function packed(parts: Iterable<Uint8Array>): Promise<void> {
    await pipeline(Readable.from(parts), createZstdCompress(), createWriteStream(pathOf()));
  }

  /** Resolves to the error, which is one line, and to the number of bytes that a reader was given. */
  async function refused(): Promise<{ readonly message: string; readonly taken: number }> {
    let taken = 0;
    const reading = readArchive(fileSource(pathOf()), undefined, async () => async (_, content) => {
      for await (const part of content) taken += part.length;
    });
    const error = await reading.then(
      () => assert.fail('it was accepted'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof BackupError, String(error));
    assert.match(error.message, /^\P{C}{1,400}$/u);
    return { message: error.message, taken };
  }

  test('with a member that is longer than the manifest says is refused before a byte of it is taken', async () => {
    function* bomb() {
      yield* member('backup.json', text());
      yield memberHeader({ ...file, name: 'etcd.db', size: 200_000_000_000 });
      for (let n = 0; n < 20; n++) yield Buffer.alloc(1_000_000);
    }
    await packed(bomb());
    const { message, taken } = await refused();
    assert.deepEqual([message, taken], ['the backup is damaged: etcd.db differs from the stored file', 0]);
  });

  test('with 30 MB of zeros behind its end is refused', async () => {
    const members = await whole();
    function* bomb() {
      yield* [...member('backup.json', text()), ...members, archiveEnd];
      for (let n = 0; n < 30; n++) yield Buffer.alloc(1_000_000);
    }
    await packed(bomb());
    assert.equal((await refused()).message, 'the backup is damaged: it is longer than its members');
  });

  for (const type of ['directory', 'symlink'] as const)
    test(`with a ${type} in the place of a file is refused`, async () => {
      const link = { ...file, name: 'pki/ca.crt', type, size: 0, target: '/etc/shadow' };
      await packed([...member('backup.json', text()), memberHeader(link), archiveEnd]);
      const { message } = await refused();
      assert.match(message, /(pki\/ca\.crt is no regular file|it contains "pki\/ca\.crt\/")$/);
    });

  for (const name of [
    '../etc/passwd',
    '/etc/passwd',
    'pki/../../x',
    'PKI/ca.key',
    'pki/ca.k\u00e9y',
    'x\u001b[2J',
  ])
    test(`with the member ${JSON.stringify(name)} is refused`, async () => {
      await packed([...member('backup.json', text()), ...member(name, Buffer.from('x')), archiveEnd]);
      assert.match((await refused()).message, /^the backup is damaged: it contains "/);
    });

  test('with the same member twice is refused', async () => {
    const key = member('pki/ca.key', Buffer.from('key\n'));
    await packed([...member('backup.json', text()), ...key, ...key, archiveEnd]);
    assert.match((await refused()).message, /it contains "pki\/ca\.key"$/);
  });

  test('with control characters in its manifest is refused, and none is shown', async () => {
    for (const more of [
      { host: 'vm1\u001b]0;x\u0007' },
      { minik8s: '1\n2' },
      { created: '2026-11-29T09:17:29Z\u202e' },
      { created: 'yesterday' },
      { format: 2, minik8s: '\u001b[2J' },
      { format: 2, minik8s: { a: '\n' } },
      { members: { 'pki/\u001b[2J': { size: 0, sha256: '' } } },
    ]) {
      await packed([
        ...member('backup.json', Buffer.from(JSON.stringify({ ...manifest, ...more }))),
        archiveEnd,
      ]);
      await refused();
    }
  });

  test('is read no further once the user stops the command', async () => {
    await packed([...member('backup.json', text()), ...(await whole()), archiveEnd]);
    const stop = new AbortController();
    const reading = readArchive(
      fileSource(pathOf()),
      undefined,
      async () => async (_, content) => {
        stop.abort();
        for await (const _part of content);
      },
      stop.signal,
    );
    await assert.rejects(reading, { name: 'AbortError' });
  });
});
