/** Directories that hold backups and copies, and the file of the passphrase. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readPassphrase } from '../../../src/backup/passphrase.ts';
import { finishRecovery } from '../../../src/backup/recovery.ts';
import { isScratch, withScratch } from '../../../src/backup/scratch.ts';
import { folderStore } from '../../../src/backup/store.ts';
import { namesIn } from './backup-world.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'minik8s-backup-places-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fill = (name: string, content: string | Uint8Array = '') => {
  writeFileSync(join(directory, name), content, { mode: 0o600 });
  return join(directory, name);
};

test('a folder lists its backups with their sizes and nothing else; a missing folder has none', async () => {
  const name = 'minik8s-2026-11-29T09-17-29Z.tar.zst';
  for (const other of ['notes.txt', `${name}.minik8s-1-0`, 'minik8s-x.tar.zst']) fill(other, 'other');
  fill(name, 'abc');
  const store = folderStore(directory);
  assert.deepEqual(await store.list(), [{ name, size: 3 }]);
  await store.remove(name);
  assert.deepEqual(await store.list(), []);
  assert.equal(namesIn(directory).length, 3);
  assert.deepEqual(await folderStore(join(directory, 'none')).list(), []);
  await assert.rejects(folderStore(fill('file')).list(), /ENOTDIR/);
});

test('a folder for backups is made with its parents, for its owner alone', async () => {
  const store = folderStore(join(directory, 'a/b'));
  await store.prepare();
  await store.prepare();
  assert.equal(statSync(store.path).mode & 0o777, 0o700);
});

test('the scratch directory is for its owner alone, and is removed also when the work fails', async () => {
  await withScratch(directory, async (scratch) => {
    assert.equal(statSync(scratch).mode & 0o777, 0o700);
    assert.deepEqual(namesIn(directory).map(isScratch), [true]);
    writeFileSync(join(scratch, 'etcd.db'), 'secret');
  });
  const failing = withScratch(directory, async () => {
    throw new Error('no space left');
  });
  await assert.rejects(failing, /no space left/);
  assert.deepEqual(namesIn(directory), []);
});

test('copies of killed processes are removed; those in use and other files are not', async () => {
  // No process has an id above 2^22.
  mkdirSync(join(directory, 'backup-scratch-4194305-abcdef'));
  mkdirSync(join(directory, `backup-scratch-${process.pid}-former`));
  mkdirSync(join(directory, 'backup-scratch-1-running'));
  fill('master.yaml');
  await withScratch(directory, async (outer) => {
    await withScratch(directory, async () => undefined);
    assert.ok(statSync(outer).isDirectory());
  });
  assert.deepEqual(namesIn(directory), ['backup-scratch-1-running', 'master.yaml']);
});

test('the passphrase is the first line, whatever ends it', async () => {
  for (const end of ['', '\n', '\r\n', '\nsecond line\n'])
    assert.equal(await readPassphrase(fill('p', `correct horse ${end}`), '--x'), 'correct horse ');
});

for (const [what, content, expected] of [
  ['short', '1234567\nlonger second line', /^UsageError: --x: the first line of .* has less than 8/],
  ['empty', '', /has less than 8 characters/],
  ['binary', Buffer.from([0xff, 0xfe, 0x41]), /^UsageError: --x: .* is no text in UTF-8/],
] as const)
  test(`a passphrase file that is ${what} is refused without its content`, async () => {
    const path = fill('p', content);
    await assert.rejects(readPassphrase(path, '--x'), (error: Error) => {
      assert.match(`${error}`, expected);
      return !error.message.includes('1234567');
    });
  });

test('a passphrase file that is missing is named with its flag', async () => {
  await assert.rejects(
    readPassphrase('/proc/none', '--passphrase-file'),
    /^UsageError: --passphrase-file: \/proc\/none cannot be read \(ENOENT\); give the path of a file$/,
  );
});

test('a recovery that was decided is finished at whatever step it was interrupted, and keeps the former data', async () => {
  const make = (...names: readonly string[]) => {
    for (const name of names) {
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, 'of'), name);
    }
  };
  make('data', 'data.recovered', 'peers');
  assert.equal(await finishRecovery(directory, 7), false, 'not decided yet');
  assert.deepEqual(namesIn(directory), ['data', 'data.recovered', 'peers']);
  fill('recovering');
  assert.equal(await finishRecovery(directory, 7), true);
  const after = ['data', 'data.before-recover-7', 'peers.before-recover-7'];
  const folders = () => namesIn(directory).filter((name) => statSync(join(directory, name)).isDirectory());
  assert.deepEqual(folders(), after);
  assert.ok(!namesIn(directory).includes('recovering'));
  assert.equal(await finishRecovery(directory, 8), false, 'done once');
  // Interrupted between the two renames, and before the member's files were moved.
  fill('recovering');
  make('data.recovered', 'peers');
  rmSync(join(directory, 'data'), { recursive: true });
  assert.equal(await finishRecovery(directory, 9), true);
  assert.deepEqual(folders(), [...after, 'peers.before-recover-9']);
});
