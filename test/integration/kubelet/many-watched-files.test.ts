/** The maximum size of a watched folder. Unit tests cover the rest; creating so many files takes seconds. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ListOptions, listFolder } from '../../../src/features/triggers/agent/open-folder.ts';

function begin(context: TestContext): string {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-many-files-'));
  context.after(() => rmSync(base, { recursive: true }));
  return base;
}

async function listed(base: string, more: Partial<ListOptions> = {}) {
  await using folder = await open(base, 'r');
  const looked: string[] = [];
  const { files } = await listFolder(folder, {
    isMeant: () => true,
    recursive: true,
    onFolder: async (path) => void looked.push(path),
    ...more,
  });
  return { looked, paths: [...files.keys()] };
}

test('a watched folder with more than 10,000 files, counted with those of its subfolders, is rejected', async (context) => {
  const base = begin(context);
  mkdirSync(join(base, 'in'));
  for (let i = 0; i < 9999; i++) writeFileSync(join(base, `f${i}`), '');
  writeFileSync(join(base, 'in/one'), '');
  assert.equal((await listed(base)).paths.length, 10_000);
  writeFileSync(join(base, 'in/two'), '');
  await assert.rejects(listed(base), {
    ...{ reason: 'TooManyFiles', message: 'it has too many files: at most 10000 are watched' },
  });
  const { paths } = await listed(base, { isMeant: (name) => name !== 'two' });
  assert.equal(paths.length, 10_000, 'a file that is filtered out does not count');
});

test('a watched folder is rejected if it and its subfolders are more than 1,000', async (context) => {
  const base = begin(context);
  for (let i = 0; i < 999; i++) mkdirSync(join(base, `d${i}`));
  assert.equal((await listed(base)).looked.length, 1000);
  mkdirSync(join(base, 'd0/in'));
  await assert.rejects(listed(base), {
    ...{ reason: 'TooManyFiles', message: 'it has too many folders: at most 1000 are watched' },
  });
  assert.equal((await listed(base, { recursive: false })).looked.length, 1);
});
