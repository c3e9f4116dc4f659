import assert from 'node:assert/strict';
import ffi from 'node:ffi';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { giveBackExecutable, giveBackMapped } from '../../../src/os/allocator.ts';

const length = 4 << 20;

/** Returns the kB of a mapped file that are in memory. */
function resident(path: string): number {
  const maps = readFileSync('/proc/self/smaps', 'utf8');
  const [, rss] = new RegExp(`${RegExp.escape(path)}\\n(?:.*\\n)*?Rss: +(\\d+) kB`).exec(maps) ?? [];
  return Number(rss);
}

test('mapped memory is returned, and read from the file again', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-allocator-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'file');
  const content = Buffer.alloc(length, 'content ');
  writeFileSync(path, content);
  const libc = ffi.dlopen('libc.so.6', {
    mmap: { arguments: ['u64', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'u64' },
    munmap: { arguments: ['u64', 'u64'], return: 'i32' },
  });
  const file = openSync(path, 'r');
  const [readable, privately] = [1, 2];
  const at = libc.functions.mmap(0n, BigInt(length), readable, privately, file, 0n);
  closeSync(file);
  context.after(() => libc.functions.munmap(at, BigInt(length)));
  // Like an asset, the buffer does not begin at a page boundary.
  const bytes = ffi.toBuffer(at, length, false).subarray(100);
  assert.ok(bytes.equals(content.subarray(100)));
  const before = resident(path);
  assert.ok(before > length / 1024 / 2, `${before} kB`);
  giveBackMapped(bytes);
  const after = resident(path);
  assert.ok(after <= 2 * 64, `${after} kB`);
  assert.ok(bytes.equals(content.subarray(100)));
  giveBackMapped(bytes.subarray(0, 10));
});

test('the executable uses less memory after a release, and continues', () => {
  const before = resident(process.execPath);
  giveBackExecutable();
  const after = resident(process.execPath);
  assert.ok(after < before, `${before} kB before, ${after} kB after`);
  assert.equal([3, 1, 2].toSorted().join(), '1,2,3');
});
