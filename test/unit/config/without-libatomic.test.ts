import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Architecture, emulatorFor, gnuProgram } from '../../../config/build/architecture.ts';
import { compareExchangeCode } from '../../../config/build/node-runtime.ts';
import { withoutLibatomic } from '../../../config/build/without-libatomic.ts';

/**
 * Program that prints the effects of a successful and of a failed exchange, for each size and for an address
 * that is not aligned.
 */
const program = `
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
bool exchange(size_t, void *, void *, void *, int, int) __asm__("__atomic_compare_exchange");
int main(void) {
  for (size_t size = 1; size <= 8; size *= 2) {
    char object[16] = "abcdefghijklmno", expected[9] = "bcdefghi", desired[9] = "ABCDEFGH";
    bool first = exchange(size, object + 1, expected, desired, 5, 5);
    bool second = exchange(size, object + 1, expected, desired, 5, 5);
    printf("%zu %d %d %s %s\\n", size, first, second, object, expected);
  }
}`;
const printed = `1 1 0 aAcdefghijklmno Acdefghi
2 1 0 aABdefghijklmno ABdefghi
4 1 0 aABCDfghijklmno ABCDfghi
8 1 0 aABCDEFGHjklmno ABCDEFGH
`;

interface Source {
  readonly arch: Architecture;
  readonly source: string;
}

function compile(context: TestContext, { arch, source }: Source, ...flags: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-libatomic-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'program');
  const args = ['-x', 'c', '-', '-fno-builtin', '-o', path, '-latomic', '-lm', ...flags];
  execFileSync(gnuProgram(arch, 'gcc'), args, { input: source });
  return path;
}

async function edit(path: string, arch: Architecture): Promise<void> {
  writeFileSync(path, withoutLibatomic(readFileSync(path), await compareExchangeCode(arch)));
  chmodSync(path, 0o755);
}

const x64 = (source: string): Source => ({ arch: 'x64', source });

const neededBy = (path: string) => execFileSync('readelf', ['-dV', path], { encoding: 'utf8' });

for (const kind of ['-no-pie', '-pie']) {
  test(`a program (${kind}) that compares and exchanges runs without libatomic`, async (context) => {
    const path = compile(context, x64(program), kind, '-Wl,-z,now');
    assert.match(neededBy(path), /libatomic/);
    await edit(path, 'x64');
    assert.doesNotMatch(neededBy(path), /libatomic/i);
    assert.match(neededBy(path), /libc\.so\.6/);
    assert.equal(execFileSync(path, { encoding: 'utf8' }), printed);
  });
}

test('a program that does not need libatomic is unchanged', async (context) => {
  const path = compile(context, x64('int main(void) { return 0; }'), '-Wl,--as-needed');
  const before = readFileSync(path);
  assert.equal(withoutLibatomic(before, await compareExchangeCode('x64')), before);
});

test('another function of libatomic is refused by its name', async (context) => {
  const load = 'void load(size_t, void *, void *, int) __asm__("__atomic_load");';
  const source = program.replace(
    'int main(void) {',
    `${load} int main(void) { char a[3], b[3]; load(3, a, b, 5);`,
  );
  const path = compile(context, x64(source), '-Wl,-z,now');
  await assert.rejects(edit(path, 'x64'), { message: /Node needs __atomic_load of libatomic\.so\.1/ });
});

test('a program that binds its functions lazily is refused', async (context) => {
  const path = compile(context, x64(program), '-Wl,-z,lazy');
  await assert.rejects(edit(path, 'x64'), { message: /binds functions lazily/ });
});

test('code that does not have the expected form is rejected', async (context) => {
  const path = compile(context, x64(program), '-Wl,-z,now');
  assert.throws(() => withoutLibatomic(readFileSync(path), Buffer.alloc(5000)), {
    message: 'Node has no room for 5000 bytes behind its code',
  });
});

/** As above, at an aligned address: processors of arm64 exchange nothing else in one instruction. */
const alignedProgram = program
  .replaceAll('object + 1', 'object')
  .replace('"bcdefghi"', '"abcdefgh"')
  .replace('char object[16]', '_Alignas(8) char object[16]');

test('a program for arm64 that compares and exchanges runs without libatomic', async (context) => {
  const arch = 'arm64' satisfies Architecture;
  const path = compile(context, { arch, source: alignedProgram }, '-no-pie', '-Wl,-z,now');
  assert.match(neededBy(path), /libatomic/);
  await edit(path, arch);
  assert.doesNotMatch(neededBy(path), /libatomic/i);
  const [emulator = path, ...words] = [...emulatorFor(arch), path];
  assert.equal(
    execFileSync(emulator, words, { encoding: 'utf8' }),
    `1 1 0 Abcdefghijklmno Abcdefgh
2 1 0 ABcdefghijklmno ABcdefgh
4 1 0 ABCDefghijklmno ABCDefgh
8 1 0 ABCDEFGHijklmno ABCDEFGH
`,
  );
});
