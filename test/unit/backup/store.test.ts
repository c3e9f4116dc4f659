/** A directory of backups in which others have files too. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { outdatedNames } from '../../../src/backup/schedule-plan.ts';
import { folderStore } from '../../../src/backup/store.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-store-'));
});
after(() => rm(directory, { recursive: true }));

test('only files with the names of backups are listed, so retention removes nothing else', async () => {
  const name = (day: string) => `minik8s-2026-11-${day}T09-17-29Z.tar.zst`;
  await writeFile(join(directory, name('28')), 'abc');
  await mkdir(join(directory, name('01')));
  await symlink('/nonexistent', join(directory, name('02')));
  const others = [
    `${name('03')}.bak`,
    `x${name('03')}`,
    `${name('03')}.age.gpg`,
    'minik8s-2026-11-3T09.tar.zst',
  ];
  for (const each of others) await writeFile(join(directory, each), 'x');
  const listed = await folderStore(directory).list();
  assert.deepEqual(listed, [{ name: name('28'), size: 3 }]);
  const now = Date.UTC(2026, 10, 30);
  assert.deepEqual(outdatedNames([...listed.map((each) => each.name), ...others], now, 1), []);
});

test('a place that is no directory, or cannot be written, is refused in one line', async () => {
  await writeFile(join(directory, 'file'), '');
  for (const path of [join(directory, 'file'), join(directory, 'file/below'), '/proc/minik8s/backups'])
    await assert.rejects(folderStore(path).prepare(), (error: Error) => {
      const [start, end] = [
        `backups cannot be written to ${path} (`,
        'make it writable, or give another directory',
      ];
      assert.ok(error.message.startsWith(start) && error.message.endsWith(end), error.message);
      return true;
    });
});

test('a file in the place of the directory is an error in one line, and no directory an empty list', async () => {
  await writeFile(join(directory, 'file'), '');
  await assert.rejects(folderStore(join(directory, 'file')).list(), {
    message: `the backups in ${directory}/file cannot be listed (ENOTDIR: not a directory, scandir '${directory}/file'): give the directory of the backups`,
  });
  assert.deepEqual(await folderStore(join(directory, 'none')).list(), []);
});

test('a new directory can be entered by its owner alone', async () => {
  const path = join(directory, 'deep/backups');
  await folderStore(path).prepare();
  assert.equal((await stat(path)).mode & 0o777, 0o700);
});
