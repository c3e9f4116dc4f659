import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { removeLeftDrafts, replaceFile } from '../../../src/os/replace-file.ts';

describe('a file that is replaced', () => {
  let directory: string;
  let path: string;
  beforeEach((context) => {
    directory = mkdtempSync(join(tmpdir(), 'minik8s-replace-'));
    path = join(directory, 'file');
    if ('after' in context) context.after(() => rmSync(directory, { recursive: true }));
  });
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

  it('is created and replaced with its mode, for any umask and old mode', async () => {
    const before = process.umask(0o077);
    try {
      await replaceFile(path, 'one', { mode: 0o644 });
      assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['one', '644']);
    } finally {
      process.umask(before);
    }
    const old = statSync(path).ino;
    await replaceFile(path, Buffer.from('two'), { mode: 0o600, modified: 1_000 });
    assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['two', '600']);
    assert.equal(statSync(path).mtimeMs, 1_000_000);
    assert.notEqual(statSync(path).ino, old);
    assert.deepEqual(readdirSync(directory), ['file']);
  });

  it('is never readable by other users, even if a draft with its name exists', async () => {
    const others = join(directory, 'others');
    writeFileSync(others, '', { mode: 0o666 });
    // The number of earlier drafts is unknown, so that a link is created under each of the next names.
    for (let n = 0; n < 50; n++) symlinkSync(others, `${path}.minik8s-${process.pid}-${n}`);
    await replaceFile(path, 'secret', { mode: 0o600 });
    assert.equal(lstatSync(path).isSymbolicLink(), false);
    assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['secret', '600']);
    assert.equal(readFileSync(others, 'utf8'), '');
  });

  it('stays when removeLeftDrafts removes the drafts of ended writers, as do drafts of running writers', async () => {
    const { pid: ended } = spawnSync('true');
    for (const name of [`file.minik8s-${ended}-3`, `file.minik8s-${process.pid}-900`, 'file', 'other'])
      writeFileSync(join(directory, name), '');
    await removeLeftDrafts(directory);
    assert.deepEqual(readdirSync(directory).sort(), ['file', `file.minik8s-${process.pid}-900`, 'other']);
  });

  it('is complete when several processes write it at the same time', async () => {
    const contents = Array.from({ length: 20 }, (_, n) => String(n).repeat(100_000));
    await Promise.all(contents.map((content) => replaceFile(path, content, { mode: 0o600 })));
    assert.ok(contents.includes(readFileSync(path, 'utf8')));
    assert.deepEqual(readdirSync(directory), ['file']);
  });

  it('stays unchanged, with no file beside it, when it cannot be replaced', async () => {
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'kept');
    await assert.rejects(replaceFile(path, 'x', { mode: 0o600 }), {
      code: 'EISDIR',
      message: `${path} is a directory, in the place of a file: move it away`,
    });
    assert.deepEqual(readdirSync(directory), ['file']);
    await assert.rejects(replaceFile(join(directory, 'none/file'), 'x', { mode: 0o600 }), { code: 'ENOENT' });
  });
});
