import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { brotliDecompressSync, constants, zstdCompressSync } from 'node:zlib';
import { compressed, compressedOnce, writeBrotli } from '../../../../config/build/compress.ts';

const content = Buffer.from('a program '.repeat(1000));

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-compress-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns the path of the only file in the folder. */
function onlyFile(folder: string): string {
  const [name = '', ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  return join(folder, name);
}

/** Returns the name of the file that `make` adds to the folder. */
async function nameOfNew(folder: string, make: () => Promise<unknown>): Promise<string> {
  const before = readdirSync(folder);
  await make();
  const [name = '', ...others] = readdirSync(folder).filter((one) => !before.includes(one));
  assert.deepEqual(others, []);
  return name;
}

describe('an asset is compressed once for all clones of a user', () => {
  test('the first build gives the same bytes as one without a cache, and keeps them', async (context) => {
    const cache = join(folderOf(context), 'new/cache');
    const expected = await compressed(content);
    assert.deepEqual(await compressedOnce(content, cache), expected);
    assert.deepEqual(readFileSync(onlyFile(cache)), expected);
  });

  test('a later build takes the kept result', async (context) => {
    const cache = folderOf(context);
    await compressedOnce(content, cache);
    const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 0 };
    const marked = zstdCompressSync(content, { params });
    assert.notDeepEqual(marked, await compressed(content));
    writeFileSync(onlyFile(cache), marked);
    assert.deepEqual(await compressedOnce(content, cache), marked);
  });

  test('a kept result that is damaged, or is one of other content, is replaced', async (context) => {
    const cache = folderOf(context);
    const expected = await compressedOnce(content, cache);
    const path = onlyFile(cache);
    for (const wrong of [
      Buffer.from('damaged'),
      expected.subarray(0, -10),
      zstdCompressSync(Buffer.from('other')),
    ]) {
      writeFileSync(path, wrong);
      assert.deepEqual(await compressedOnce(content, cache), expected);
      assert.deepEqual(readFileSync(path), expected);
    }
  });

  test('results that no build has used for a month are removed, and no other file of the folder is', async (context) => {
    const cache = folderOf(context);
    const day = (number: number) => new Date(Date.UTC(2026, 0, number));
    const keep = (text: string, now: Date) => compressedOnce(Buffer.from(text), cache, now);
    const old = await nameOfNew(cache, () => keep('old', day(1)));
    const used = await nameOfNew(cache, () => keep('used', day(1)));
    writeFileSync(join(cache, 'helm-4'), '');
    for (const name of [old, used, 'helm-4']) utimesSync(join(cache, name), day(1), day(1));
    await keep('used', day(20));
    const added = await nameOfNew(cache, () => keep('new', day(40)));
    assert.deepEqual(readdirSync(cache).sort(), [used, added, 'helm-4'].sort());
  });
});

describe('the compressed copy of a file of the dashboard', () => {
  test('is not made again as long as it has the content of the file', async (context) => {
    const path = join(folderOf(context), 'main-ABCD.js');
    const bytes = await writeBrotli(path, content);
    const made = statSync(`${path}.br`);
    assert.equal(made.size, bytes);
    assert.equal(await writeBrotli(path, content), bytes);
    assert.equal(statSync(`${path}.br`).ino, made.ino);
    assert.equal(statSync(`${path}.br`).ctimeMs, made.ctimeMs);
  });

  test('is replaced if it is damaged, or if the content has changed', async (context) => {
    const path = join(folderOf(context), 'index.html');
    await writeBrotli(path, content);
    for (const text of ['changed', 'changed again']) {
      await writeBrotli(path, Buffer.from(text));
      assert.equal(brotliDecompressSync(readFileSync(`${path}.br`)).toString(), text);
    }
    writeFileSync(`${path}.br`, 'damaged');
    await writeBrotli(path, content);
    assert.deepEqual(brotliDecompressSync(readFileSync(`${path}.br`)), content);
  });
});
