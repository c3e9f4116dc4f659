import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { holderOf, holderOnceWritten, openDataDirectory } from '../../../src/roles/data-directory.ts';

const module = join(import.meta.dirname, '../../../src/roles/data-directory.ts');
const parent = mkdtempSync(join(tmpdir(), 'minik8s-data-'));
after(() => rmSync(parent, { recursive: true }));

test('a directory is locked by one process until its release', async () => {
  const path = join(parent, 'a/b');
  const directory = await openDataDirectory(path);
  assert.equal(holderOf(path), process.pid);
  await assert.rejects(openDataDirectory(path), new RegExp(`used by minik8s with process id ${process.pid}`));
  await directory.release();
  assert.equal(holderOf(path), undefined);
  await (await openDataDirectory(path)).release();
});

test('one of many concurrent processes locks a directory, even with a stale pid file', async () => {
  const path = join(parent, 'at-once');
  mkdirSync(path);
  writeFileSync(join(path, 'minik8s.pid'), '4194304 1\n');
  const program = `
    import { openDataDirectory } from ${JSON.stringify(module)};
    process.stdin.once('data', async () => {
      await openDataDirectory(${JSON.stringify(path)}).then(() => console.log('mine'), () => console.log('not mine'));
      process.stdin.once('end', () => process.exit());
    });
    console.log('there');`;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program]),
  );
  const lines = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
  const next = () => Promise.all(lines.map(async (line) => (await line.next()).value));
  assert.deepEqual(await next(), Array(4).fill('there'));
  for (const child of children) child.stdin.write('go');
  const answers = await next();
  for (const child of children) child.stdin.end();
  assert.deepEqual(answers.sort(), ['mine', 'not mine', 'not mine', 'not mine']);
  assert.deepEqual(readdirSync(path), ['minik8s.pid']);
});

test('the process that holds the lock is found as soon as it has written its id', async () => {
  const file = join(parent, 'just-taken');
  writeFileSync(file, '');
  const holder = holderOnceWritten(file);
  const itself = readFileSync(`/proc/self/stat`, 'utf8').replace(/.*\) /, '').split(' ')[19];
  writeFileSync(file, `${process.pid} ${itself}\n`);
  assert.equal(await holder, process.pid);
});

for (const [what, content] of [
  ['the id of a process that has ended', '4194304 1\n'],
  ['an id that another process has now', `${process.pid} 1\n`],
  ['unreadable content', 'x\n'],
] as const) {
  test(`a stale pid file with ${what} does not lock the directory`, async () => {
    writeFileSync(join(parent, 'minik8s.pid'), content);
    await (await openDataDirectory(parent)).release();
  });
}

test('an unusable directory is reported in one line', async () => {
  writeFileSync(join(parent, 'file'), '');
  await assert.rejects(openDataDirectory(join(parent, 'file')), (error: Error) =>
    /cannot be used .*; give another --data-dir$/.test(error.message),
  );
});

test('a zombie process does not lock the directory', () => {
  const path = join(parent, 'ended');
  mkdirSync(path);
  // The child stays a zombie during the test: Node reaps it in a later turn of the event loop.
  const { pid } = spawn('true', { stdio: 'ignore' });
  const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
  while (fields()[0] !== 'Z');
  writeFileSync(join(path, 'minik8s.pid'), `${pid} ${fields()[19]}\n`);
  assert.equal(holderOf(path), undefined);
});
