import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { withScratch } from '../../../src/backup/scratch.ts';

test('a directory in which nothing can be written is replaced by the other one', async (context) => {
  const other = await mkdtemp(join(tmpdir(), 'minik8s-scratch-'));
  context.after(() => rm(other, { recursive: true }));
  const used = await withScratch('/proc', async (directory) => directory, other);
  assert.equal(dirname(used), other);
  await assert.rejects(
    withScratch('/proc', async (directory) => directory),
    /ENOENT|EACCES|EPERM/,
  );
  await assert.rejects(
    withScratch('/proc', async (directory) => directory, '/proc'),
    /ENOENT|EACCES|EPERM/,
  );
});

test('a scratch directory is its owner’s alone, and those of killed processes are removed', async (context) => {
  const parent = await mkdtemp(join(tmpdir(), 'minik8s-scratch-'));
  context.after(() => rm(parent, { recursive: true }));
  await mkdir(join(parent, 'backup-scratch-4194305-abc'));
  await writeFile(join(parent, 'backup-scratch-x'), 'of others');
  await withScratch(parent, async (directory) => {
    assert.equal((await stat(directory)).mode & 0o777, 0o700);
    assert.equal((await readdir(parent)).length, 2);
  });
  assert.deepEqual(await readdir(parent), ['backup-scratch-x']);
});
