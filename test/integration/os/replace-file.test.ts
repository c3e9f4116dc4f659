/**
 * The state of the disk at the moment of a power loss. The file system writes its journal only when
 * requested, with a very long commit interval; the next start finds exactly the state of the device at that
 * moment.
 */
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { replaceFile } from '../../../src/os/replace-file.ts';

let directory: string;
const at = (name: string) => join(directory, name);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-power-'));
  for (const name of ['before', 'after']) await mkdir(at(name));
  await writeFile(at('device'), '');
  await truncate(at('device'), 16 << 20);
  await systemExec('mkfs.ext4', ['-q', '-F', at('device')]);
  // Options that turn off flushes which the file system does by itself, although no standard requires them.
  const options = 'loop,data=writeback,noauto_da_alloc,commit=600';
  await systemExec('mount', ['-o', options, at('device'), at('before')]);
});
afterEach(async () => {
  await unmountUnder(directory, systemExec);
  await rm(directory, { recursive: true });
});

/** Returns the files that a start after a power loss finds, by name. */
async function afterPowerLoss(): Promise<Record<string, string>> {
  await copyFile(at('device'), at('device-then'));
  await systemExec('mount', ['-o', 'loop', at('device-then'), at('after')]);
  const names = (await readdir(at('after'))).filter((name) => name !== 'lost+found').sort();
  const found: Record<string, string> = {};
  for (const name of names) found[name] = await readFile(join(at('after'), name), 'utf8');
  return found;
}

it('a file that was replaced twice is complete after a power failure', async () => {
  const path = join(at('before'), 'file');
  await replaceFile(path, 'one', { mode: 0o600 });
  const content = 'two '.repeat(50_000);
  await replaceFile(path, content, { mode: 0o600 });
  assert.deepEqual(await afterPowerLoss(), { file: content });
});

it('a replaced file survives a power failure, a file written without sync does not', async () => {
  await replaceFile(join(at('before'), 'file'), 'one', { mode: 0o600 });
  await writeFile(join(at('before'), 'other'), 'two');
  assert.deepEqual(await afterPowerLoss(), { file: 'one' });
});
