import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isThere, isUnfinished, keepData, prepareData } from '../../../src/storage/first-data.ts';

/**
 * Runs the body with a data directory, and with a counter of the syncs that protect its contents from a power
 * failure.
 */
async function withDirectory(
  body: (directory: string, handle: Parameters<typeof keepData>[1], syncs: () => number) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'first-data-'));
  const handle = await open(directory, 'r');
  let syncs = 0;
  const sync = handle.sync.bind(handle);
  handle.sync = () => {
    syncs++;
    return sync();
  };
  try {
    await body(directory, handle, () => syncs);
  } finally {
    await handle.close();
    await rm(directory, { recursive: true });
  }
}

/** Writes files as etcd does when it starts. */
const write = async (directory: string) => {
  await mkdir(join(directory, 'data/member'), { recursive: true });
  await writeFile(join(directory, 'data/member/log'), 'x');
};
const hasLog = (directory: string) => isThere(join(directory, 'data/member/log'));

describe('the data of an etcd', () => {
  it('are removed before the next start if it never served', () =>
    withDirectory(async (directory, handle, syncs) => {
      await prepareData(directory, handle);
      assert.equal(await isUnfinished(directory), true);
      assert.equal(syncs(), 1, 'the marker file is synced before there are data');
      assert.equal((await stat(join(directory, 'unfinished'))).mode & 0o777, 0o600);
      await write(directory);
      await prepareData(directory, handle);
      assert.equal(await hasLog(directory), false);
      assert.equal(await isUnfinished(directory), true);
    }));

  it('are kept once it has served', () =>
    withDirectory(async (directory, handle, syncs) => {
      await prepareData(directory, handle);
      await write(directory);
      await keepData(directory, handle);
      assert.equal(syncs(), 2, 'the removal of the marker file is synced');
      assert.equal(await isUnfinished(directory), false);
      await prepareData(directory, handle);
      assert.equal(await hasLog(directory), true);
      assert.equal(await isUnfinished(directory), false);
      await keepData(directory, handle);
      assert.equal(await hasLog(directory), true);
    }));

  it('are kept if they are older than the marker file', () =>
    withDirectory(async (directory, handle) => {
      await write(directory);
      await prepareData(directory, handle);
      assert.equal(await hasLog(directory), true);
      assert.equal(await isUnfinished(directory), false);
    }));

  it('are left unchanged if their existence cannot be determined', () =>
    withDirectory(async (directory, handle) => {
      await writeFile(join(directory, 'file'), '');
      await assert.rejects(isThere(join(directory, 'file/below')), { code: 'ENOTDIR' });
      await assert.rejects(prepareData(join(directory, 'file'), handle), { code: 'ENOTDIR' });
    }));

  it('that are already missing count as removed', () =>
    withDirectory(async (directory, handle) => {
      await prepareData(directory, handle);
      await prepareData(directory, handle);
      assert.equal(await isThere(join(directory, 'data')), false);
      assert.equal(await isUnfinished(directory), true);
    }));
});
