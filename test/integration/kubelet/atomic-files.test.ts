/** The files of API volumes on disk: replaced atomically, with modes and owners, and without leftovers. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { currentFiles, replaceFiles } from '../../../src/kubelet/volumes/atomic-files.ts';
import type { VolumeFile } from '../../../src/kubelet/volumes/plan/projection.ts';

describe('the files of a volume', () => {
  let volume: string;
  beforeEach(() => {
    volume = mkdtempSync(join(tmpdir(), 'minik8s-volume-'));
  });
  afterEach(() => rmSync(volume, { recursive: true }));
  const file = (path: string, content: string, more: Partial<VolumeFile> = {}): VolumeFile => ({
    path,
    content: Buffer.from(content),
    mode: 0o644,
    ...more,
  });
  const read = (path: string) => readFileSync(join(volume, path), 'utf8');
  const visible = () => readdirSync(volume).filter((name) => !name.startsWith('..'));
  const hidden = () => readdirSync(volume).filter((name) => name.startsWith('..'));
  const modeOf = (path: string) => (statSync(join(volume, path)).mode & 0o7777).toString(8);

  it('have their modes, and are reached through links', async () => {
    await replaceFiles(volume, [file('a', '1'), file('d/e/b', '2', { mode: 0o400, owner: 1000 })], undefined);
    assert.deepEqual([read('a'), read('d/e/b')], ['1', '2']);
    assert.deepEqual(
      [modeOf('a'), modeOf('d/e/b'), modeOf('d/e'), modeOf('..data')],
      ['644', '400', '755', '755'],
    );
    assert.equal(statSync(join(volume, 'd/e/b')).uid, 1000);
    assert.equal(readlinkSync(join(volume, 'd')), '..data/d');
    assert.equal(await currentFiles(volume), join(volume, readlinkSync(join(volume, '..data'))));
  });

  it('may be read by the group of the pod', async () => {
    await replaceFiles(volume, [file('d/token', 't', { mode: 0o600, owner: 1000 })], 2000);
    const { uid, gid } = statSync(join(volume, 'd/token'));
    assert.deepEqual([modeOf('d/token'), uid, gid], ['640', 1000, 2000]);
    assert.deepEqual(
      [modeOf('d'), statSync(join(volume, 'd')).gid, modeOf('..data')],
      ['2755', 2000, '2755'],
    );
  });

  it('change together, and files that are no longer named are removed', async () => {
    await replaceFiles(volume, [file('a', '1'), file('b', '1'), file('d/x', '1')], undefined);
    const before = readlinkSync(join(volume, '..data'));
    await replaceFiles(volume, [file('a', '2'), file('c', '2')], undefined);
    assert.notEqual(readlinkSync(join(volume, '..data')), before);
    assert.deepEqual(visible().sort(), ['a', 'c']);
    assert.deepEqual([read('a'), read('c')], ['2', '2']);
    assert.equal(hidden().length, 2, 'the link and where it leads');
    await replaceFiles(volume, [], undefined);
    assert.deepEqual(visible(), []);
  });

  it('are repaired if a writer was killed before it was done', async () => {
    await replaceFiles(volume, [file('a', '1')], undefined);
    mkdirSync(join(volume, '..files-half'));
    writeFileSync(join(volume, '..files-half', 'a'), 'half');
    symlinkSync('..files-half', join(volume, '..data_tmp'));
    mkdirSync(join(volume, 'b'));
    await replaceFiles(volume, [file('a', '2'), file('b', '2')], undefined);
    assert.deepEqual([read('a'), read('b')], ['2', '2']);
    assert.equal(hidden().length, 2);
  });

  it('are not written again if they are correct', async () => {
    const files = [file('a', '1'), file('d/b', '2', { mode: 0o600, owner: 7 })];
    const linked = () => readlinkSync(join(volume, '..data'));
    for (const group of [undefined, 5]) {
      await replaceFiles(volume, files, group);
      const before = linked();
      await replaceFiles(volume, files, group);
      assert.equal(linked(), before);
    }
    // Repairs the state that a writer left when it was killed between the link and the names.
    rmSync(join(volume, 'a'));
    mkdirSync(join(volume, 'old'));
    await replaceFiles(volume, files, 5);
    assert.deepEqual(visible().sort(), ['a', 'd']);
  });

  it('are written again if any visible property of them differs', async () => {
    for (const [files, group] of [
      [[file('b', '1')], undefined],
      [[file('a', '2')], undefined],
      [[file('a', '1', { mode: 0o600 })], undefined],
      [[file('a', '1', { owner: 1 })], undefined],
      [[file('a', '1')], 5],
      [[file('a', '1'), file('b', '')], undefined],
      [[file('a/b', '1')], undefined],
      [[], undefined],
    ] as const) {
      await replaceFiles(volume, [file('a', '1')], undefined);
      const before = readlinkSync(join(volume, '..data'));
      await replaceFiles(volume, files, group);
      assert.notEqual(readlinkSync(join(volume, '..data')), before, JSON.stringify(files));
    }
  });

  it('leave nothing behind when they cannot be written', async () => {
    await replaceFiles(volume, [file('a', '1')], undefined);
    // A file cannot have another file below it.
    const impossible = [file('x', '1'), file('x/y', '1')];
    for (let attempt = 0; attempt < 3; attempt++)
      await assert.rejects(replaceFiles(volume, impossible, undefined));
    assert.equal(hidden().length, 2, 'the link and where it leads');
    assert.equal(read('a'), '1');
  });
});
