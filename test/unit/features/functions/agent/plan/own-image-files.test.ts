import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  foldersAbove,
  linkedLibraries,
  ownFiles,
} from '../../../../../../src/features/functions/agent/plan/own-image-files.ts';

const said = `\tlinux-vdso.so.1 (0x00007ffc)
\tlibdl.so.2 => /lib/x86_64-linux-gnu/libdl.so.2 (0x00007f31)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f30)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f32)
`;

it("the files are the libraries and the loader in the loader's list, without those of the kernel", () => {
  assert.deepEqual(linkedLibraries(said), [
    '/lib/x86_64-linux-gnu/libdl.so.2',
    '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib64/ld-linux-x86-64.so.2',
  ]);
  assert.deepEqual(linkedLibraries(''), []);
});

it('a missing library is reported', () =>
  assert.throws(() => linkedLibraries('\tlibx.so.1 => not found\n'), /library libx\.so\.1 was not found/));

it('a library keeps its path, and the program has a separate one', () => {
  const files = ownFiles('/opt/minik8s', '/minik8s', ['/lib64/ld.so']);
  assert.deepEqual(files, [
    { source: '/opt/minik8s', path: 'minik8s' },
    { source: '/lib64/ld.so', path: 'lib64/ld.so', library: '/lib64' },
  ]);
  assert.deepEqual(foldersAbove(['minik8s', 'lib/a/b.so']), ['etc', 'lib', 'lib/a']);
});
