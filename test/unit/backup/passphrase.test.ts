import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readPassphrase } from '../../../src/backup/passphrase.ts';

let path: string;
let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-passphrase-'));
  path = join(directory, 'passphrase');
});
after(() => rm(directory, { recursive: true }));

async function read(content: string | Buffer, mode = 0o600): Promise<string> {
  await writeFile(path, content);
  await chmod(path, mode);
  return readPassphrase(path, '--passphrase-file');
}

test('the passphrase is the first line, with its blanks', async () => {
  assert.equal(await read(' correct horse \nsecond line\n'), ' correct horse ');
  assert.equal(await read('correct horse\r\n', 0o400), 'correct horse');
});

test('a file without a passphrase is refused', async () => {
  for (const content of ['', '\n', 'short\n', '\ncorrect horse\n'])
    await assert.rejects(read(content), {
      name: 'UsageError',
      message: `--passphrase-file: the first line of ${path} is the passphrase, and has less than 8 characters`,
    });
  await assert.rejects(read(Buffer.from([0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8])), /is no text in UTF-8/);
});

test('a passphrase that other users may read is refused with the command that mends it', async () => {
  for (const mode of [0o644, 0o640, 0o666, 0o601])
    await assert.rejects(read('correct horse\n', mode), {
      name: 'UsageError',
      message: `--passphrase-file: users other than its owner may read ${path}; run chmod 600 ${path}`,
    });
  const link = join(directory, 'link');
  await symlink(path, link);
  await assert.rejects(readPassphrase(link, '--passphrase-file'), /users other than its owner may read/);
});

test('a file that is no passphrase, or has no end, is refused without being read to its end', async () => {
  await assert.rejects(read('x'.repeat(70_000)), /has more than 64 KiB/);
  await assert.rejects(readPassphrase('/dev/zero', '--passphrase-file'), /has more than 64 KiB/);
  await assert.rejects(readPassphrase(directory, '--passphrase-file'), /cannot be read \(EISDIR\)|may read/);
  await assert.rejects(
    readPassphrase(join(directory, 'none'), '--passphrase-file'),
    /cannot be read \(ENOENT\)/,
  );
});
