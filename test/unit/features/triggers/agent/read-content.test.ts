/** Content of a watched file that changes while it is read. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { readContent } from '../../../../../src/features/triggers/agent/open-folder.ts';

async function world(context: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-read-content-'));
  const folder = await open(base, 'r');
  context.after(async () => {
    await folder.close();
    rmSync(base, { recursive: true });
  });
  const path = join(base, 'f');
  writeFileSync(path, 'before');
  const { size, mtimeNs } = statSync(path, { bigint: true });
  const mark = { size: Number(size), written: String(mtimeNs) };
  return { folder, path, mark, read: () => readContent(folder, 'f', mark) };
}

it('a file that is written during the read is not reported as a mixture', async (context) => {
  const { folder, path, read } = await world(context);
  const handles = Object.getPrototypeOf(folder);
  const original = handles.read;
  context.mock.method(handles, 'read', async function (this: unknown, ...args: unknown[]) {
    const answer = await original.apply(this, args);
    // The content has the same length: only the time differs.
    writeFileSync(path, 'behind');
    utimesSync(path, 1, 1);
    return answer;
  });
  assert.equal(await read(), undefined);
});
it('the content of a file is reported unless its time or length has changed in the meantime', async (context) => {
  const { path, read } = await world(context);
  assert.deepEqual(await read(), { content: 'before' });
  utimesSync(path, 1, 1);
  assert.equal(await read(), undefined);
  writeFileSync(path, 'longer than before');
  assert.equal(await read(), undefined);
  rmSync(path);
  assert.equal(await read(), undefined);
});
