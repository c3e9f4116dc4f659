import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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

function compile(context: TestContext, source: string, ...flags: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-libatomic-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'program');
  const args = ['-x', 'c', '-', '-fno-builtin', '-o', path, '-latomic', '-lm', ...flags];
  execFileSync('gcc', args, { input: source });
  return path;
}

async function edit(path: string): Promise<void> {
  writeFileSync(path, withoutLibatomic(readFileSync(path), await compareExchangeCode()));
  chmodSync(path, 0o755);
}

const neededBy = (path: string) => execFileSync('readelf', ['-dV', path], { encoding: 'utf8' });

for (const kind of ['-no-pie', '-pie']) {
  test(`a program (${kind}) that compares and exchanges runs without libatomic`, async (context) => {
    const path = compile(context, program, kind, '-Wl,-z,now');
    assert.match(neededBy(path), /libatomic/);
    await edit(path);
    assert.doesNotMatch(neededBy(path), /libatomic/i);
    assert.match(neededBy(path), /libc\.so\.6/);
    assert.equal(execFileSync(path, { encoding: 'utf8' }), printed);
  });
}

test('a program that does not need libatomic stays as it is', async (context) => {
  const path = compile(context, 'int main(void) { return 0; }', '-Wl,--as-needed');
  const before = readFileSync(path);
  assert.equal(withoutLibatomic(before, await compareExchangeCode()), before);
});

test('another function of libatomic is refused by its name', async (context) => {
  const load = 'void load(size_t, void *, void *, int) __asm__("__atomic_load");';
  const source = program.replace(
    'int main(void) {',
    `${load} int main(void) { char a[3], b[3]; load(3, a, b, 5);`,
  );
  const path = compile(context, source, '-Wl,-z,now');
  await assert.rejects(edit(path), { message: /Node needs __atomic_load of libatomic\.so\.1/ });
});

test('a program that binds its functions lazily is refused', async (context) => {
  const path = compile(context, program, '-Wl,-z,lazy');
  await assert.rejects(edit(path), { message: /binds functions lazily/ });
});

test('code for which there is no room is refused', async (context) => {
  const path = compile(context, program, '-Wl,-z,now');
  assert.throws(() => withoutLibatomic(readFileSync(path), Buffer.alloc(5000)), {
    message: 'Node has no room for 5000 bytes behind its code',
  });
});
