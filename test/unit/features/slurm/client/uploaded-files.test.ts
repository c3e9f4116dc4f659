/** Files of a job's work folder: their folders, their paths, and which of them are programs. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  filesToUpload,
  foldersOf,
  isProgram,
  requireBelow,
} from '../../../../../src/features/slurm/client/uploaded-files.ts';

const file = (path: string) => ({ path, data: Buffer.from('text') });

it('each folder of the files is created once, and a file in the top folder needs no folder', () => {
  assert.deepEqual(foldersOf(['top', 'a/one', 'a/two', 'a/b/three'].map(file)), ['a', 'a/b']);
});

it('the client adds its three files in its own folder, after the files of the job', () => {
  const spec = { run: ['true'], build: ['make'] };
  const job = { namespace: 'default', name: 'j', uid: 'u', spec, status: undefined, deleting: false };
  assert.deepEqual(
    filesToUpload(job, [file('a')]).map(({ path }) => path),
    ['a', '.minik8s/job.slurm', '.minik8s/script', '.minik8s/build.sh'],
  );
});

it('a path that leaves the work folder, or is in the client’s folder, is rejected', () => {
  for (const path of ['/a', '../a', 'a/../b', 'a/./b', 'a//b', 'a/', '.', '..', ''])
    assert.throws(() => requireBelow(path), /is not below the work folder/, path);
  for (const path of ['.minik8s', '.minik8s/job-id'])
    assert.throws(() => requireBelow(path), /is in the client's own folder/, path);
  for (const path of ['a', 'a/b', '..a', 'a..', '.minik8s2', 'a/.minik8s']) requireBelow(path);
});

it('a script and an ELF file are programs, and files that only begin like them are not', () => {
  const program = (...bytes: number[]) => isProgram(Uint8Array.from(bytes));
  assert.ok(program(0x23, 0x21) && program(0x7f, 0x45, 0x4c, 0x46, 2));
  for (const bytes of [[], [0x23], [0x21, 0x23], [0x23, 0x20], [0x7f, 0x45, 0x4c], [0x7f, 0x45, 0x4c, 0x47]])
    assert.ok(!program(...bytes), String(bytes));
});
