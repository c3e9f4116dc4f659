/** Bounded reads of files, devices and pipes. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { maxInputBytes, readBounded, readBoundedSync } from '../../../src/os/bounded-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-bounded-'));
after(() => rmSync(directory, { recursive: true }));

const longer = (path: string) => ({ message: `${path} has more than 64 MiB: write it in parts` });

test('a device without an end is read no further than the maximum', async () => {
  await assert.rejects(readBounded('/dev/zero'), longer('/dev/zero'));
  assert.throws(() => readBoundedSync('/dev/zero'), longer('/dev/zero'));
});

test('a file that cannot be read is named with the reason, and the error has the code of the system', async () => {
  const absent = join(directory, 'absent');
  for (const [path, code, message] of [
    [absent, 'ENOENT', `open ${absent}: no such file or directory`],
    [directory, 'EISDIR', `read ${directory}: is a directory`],
    ['/dev/null/x', 'ENOTDIR', 'open /dev/null/x: not a directory'],
  ] as const) {
    await assert.rejects(readBounded(path), { code, message });
    assert.throws(() => readBoundedSync(path), { code, message });
  }
});

test('a file of many gigabytes is refused', async () => {
  const path = join(directory, 'huge');
  writeFileSync(path, '');
  truncateSync(path, 50 * 2 ** 30);
  await assert.rejects(readBounded(path), longer(path));
  assert.throws(() => readBoundedSync(path), longer(path));
});

test('a file of exactly the maximum is read', async () => {
  const path = join(directory, 'full');
  writeFileSync(path, '');
  truncateSync(path, maxInputBytes);
  assert.equal((await readBounded(path)).length, maxInputBytes);
  await assert.rejects(readBounded(path, { maxBytes: maxInputBytes - 1, tooLong: new Error('too long') }), {
    message: 'too long',
  });
});

test('a named pipe is read to its end, even if it is written slowly', async () => {
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  for (const read of [readBounded, async (name: string) => readBoundedSync(name)]) {
    const writer = spawn('/bin/sh', ['-c', `{ printf 'kind: '; printf 'größe'; } > ${path}`]);
    const ended = once(writer, 'exit');
    assert.equal((await read(path)).toString(), 'kind: größe');
    await ended;
  }
});

test('a named pipe without a writer is awaited until the signal aborts', async () => {
  const path = join(directory, 'silent');
  execFileSync('mkfifo', [path]);
  const stop = new AbortController();
  const reading = readBounded(path, { signal: stop.signal });
  setImmediate(() => stop.abort());
  await assert.rejects(reading, { name: 'AbortError' });
  const later = readBounded(path);
  const writer = spawn('/bin/sh', ['-c', `printf late > ${path}`]);
  const ended = once(writer, 'exit');
  assert.equal((await later).toString(), 'late');
  await ended;
});

test('a missing file and a folder are rejected with the code of the system', async () => {
  const missing = join(directory, 'missing');
  await assert.rejects(readBounded(missing), { code: 'ENOENT' });
  assert.throws(() => readBoundedSync(missing), { code: 'ENOENT' });
  await assert.rejects(readBounded(directory), { code: 'EISDIR' });
  assert.throws(() => readBoundedSync(directory), { code: 'EISDIR' });
});
