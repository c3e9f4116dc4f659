import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { holderOf, openDataDirectory } from '../../../src/roles/data-directory.ts';

const parent = mkdtempSync(join(tmpdir(), 'minik8s-data-'));
after(() => rmSync(parent, { recursive: true }));

test('a directory is held by one process until it lets go', async () => {
  const path = join(parent, 'a/b');
  const directory = await openDataDirectory(path);
  assert.equal(holderOf(path), process.pid);
  await assert.rejects(openDataDirectory(path), new RegExp(`used by minik8s with process id ${process.pid}`));
  await directory.release();
  assert.equal(holderOf(path), undefined);
  await (await openDataDirectory(path)).release();
});

for (const [what, content] of [
  ['a process that is gone', '4194304 1\n'],
  ['a process id that now belongs to somebody else', `${process.pid} 1\n`],
  ['nothing readable', 'x\n'],
] as const) {
  test(`a leftover of ${what} does not hold it`, async () => {
    writeFileSync(join(parent, 'minik8s.pid'), content);
    await (await openDataDirectory(parent)).release();
  });
}

test('what can not be used is said in one line', async () => {
  writeFileSync(join(parent, 'file'), '');
  await assert.rejects(openDataDirectory(join(parent, 'file')), (error: Error) =>
    /can not be used .*; give another --data-dir$/.test(error.message),
  );
});
