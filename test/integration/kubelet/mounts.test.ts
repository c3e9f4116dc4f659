/** Mounts below a directory, in the real kernel. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { isMountPoint, mountsUnder, unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-mounts-')));
});
afterEach(async () => {
  await unmountUnder(root, systemExec);
  rmSync(root, { recursive: true });
});

async function mount(...names: string[]): Promise<string> {
  const path = join(root, ...names);
  mkdirSync(path, { recursive: true });
  await systemExec('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path]);
  return path;
}

it('mounts below a directory are unmounted, the inner ones first, also several at the same place', async () => {
  const outer = await mount('pod', 'volume');
  const inner = await mount('pod', 'volume', 'inner');
  await mount('pod', 'volume', 'inner');
  assert.deepEqual(await mountsUnder(join(root, 'pod')), [outer, inner, inner]);
  await unmountUnder(join(root, 'pod'), systemExec);
  assert.deepEqual(await mountsUnder(join(root, 'pod')), []);
});

it('mounts below a directory whose name begins with the name of the directory stay', async () => {
  const own = await mount('pod', 'volume');
  const others = await mount('pod-2', 'volume');
  const link = join(root, 'link');
  symlinkSync(join(root, 'pod'), link);
  assert.deepEqual(await mountsUnder(link), [own]);
  await unmountUnder(join(root, 'pod'), systemExec);
  assert.deepEqual(await mountsUnder(root), [others]);
});

it('mounts are found whatever characters their paths contain', async () => {
  const path = await mount('a b', 'back\\slash', 'new\nline\ttab');
  assert.deepEqual(await mountsUnder(root), [path]);
  assert.equal(await isMountPoint(path), true);
  assert.equal(await isMountPoint(join(root, 'a b')), false);
  await unmountUnder(root, systemExec);
  assert.equal(await isMountPoint(path), false);
});

it('no mounts are found below a directory that does not exist', async () => {
  assert.deepEqual(await mountsUnder(join(root, 'none')), []);
});
