import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ambientTime } from '../fixtures/ambient-time.ts';

const root = join(import.meta.dirname, '../..');

test('time and randomness are passed in', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).sort();
  assert.ok(files.length > 30, 'the source was not found');
  assert.deepEqual(
    files.flatMap((file) => ambientTime(file, readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

const uses: [source: string, what: string][] = [
  ['setImmediate(() => turn());', 'setImmediate'],
  ['const wait = globalThis.x ?? setTimeout;', 'setTimeout'],
  ['f(setInterval);', 'setInterval'],
  ['const timers = { setTimeout };', 'setTimeout'],
  ['class A { #since = performance.now(); }', 'performance'],
  ['const at = Date.now();', 'Date.now'],
  ['const at = new Date().toISOString();', 'new Date()'],
  ['const drawn = Math.random();', 'Math.random'],
  ['fetch(url, { signal: AbortSignal.timeout(5) });', 'AbortSignal.timeout'],
  [`import { setTimeout as sleep } from 'node:timers/promises';`, 'node:timers/promises'],
];
for (const [source, what] of uses) {
  test(`a source file must not contain ${source}`, () => {
    assert.ok(ambientTime('src/apiserver/x.ts', source).some((line) => line.includes(`uses ${what}:`)));
    assert.deepEqual(ambientTime('src/roles/x.ts', source), []);
  });
}

const others = [
  'socket.setTimeout(0);',
  'const at = new Date(0);',
  'interface Clock { setTimeout(ms: number): void }',
  'const limits = { setTimeout: 5 };',
];
for (const source of others) {
  test(`a source file may contain ${source}`, () =>
    assert.deepEqual(ambientTime('src/apiserver/x.ts', source), []));
}

test('a file that may use one source of time may not use another', () => {
  assert.deepEqual(ambientTime('src/base/random.ts', 'setTimeout(f, Math.random());').length, 1);
});
