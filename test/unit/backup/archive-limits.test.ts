import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireRoom, withRoom } from '../../../src/backup/archive-limits.ts';

const mebibyte = 1024 * 1024;

/** A disk that has that many MiB left, and one less after each look. */
const diskWith = (left: number) => {
  let free = left;
  return { path: '/srv/data', freeBytes: async () => free-- * mebibyte };
};

async function* parts(count: number): AsyncGenerator<Uint8Array> {
  const part = Buffer.alloc(mebibyte);
  for (let n = 0; n < count; n++) yield part;
}

/** Resolves to the number of parts that were passed on. */
async function passed(count: number, left: number): Promise<number> {
  let done = 0;
  for await (const _ of withRoom(parts(count), diskWith(left))) done++;
  return done;
}

test('a copy of the database ends before the disk of etcd is full', async () => {
  assert.equal(await passed(100, 200), 100);
  await assert.rejects(
    passed(100, 66),
    /^Error: the disk of \/srv\/data has less than 64 MiB left, which etcd needs: make room on it$/,
  );
});

test('a small database is copied from a disk that is nearly full', async () => {
  assert.equal(await passed(7, 1), 7);
});

test('a backup that does not fit on the disk is refused with both sizes', async () => {
  await requireRoom(diskWith(10), 10 * mebibyte);
  await assert.rejects(requireRoom(diskWith(10), 10 * mebibyte + 1), {
    message: 'the disk of /srv/data has 10 MiB left, and the backup needs 11 MiB: make room on it',
  });
});
