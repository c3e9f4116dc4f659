/** Records of watched folders on disk, and the ones that are removed. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { FolderMemory } from '../../../../../src/features/triggers/agent/folder-memory.ts';
import type { FolderWatch } from '../../../../../src/features/triggers/api/folder-watch.ts';

const watchOf = (name: string, uid = `uid-${name}`) =>
  ({ metadata: { name, namespace: 'default', uid } }) as unknown as FolderWatch;
const told = new Map([['in/a', { size: 3, written: '1700000000123456789' }]]);

function begin(context: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-folder-memory-'));
  context.after(() => rmSync(dataDir, { recursive: true }));
  const directory = join(dataDir, 'watched-folders');
  return {
    directory,
    memory: new FolderMemory(dataDir),
    file: (name: string) => join(directory, `default.${name}.json`),
  };
}

it('a watch gets its reported files, and a watch with the same name and another uid gets none', async (context) => {
  const { memory, directory, file } = begin(context);
  assert.equal(await memory.read(watchOf('w')), undefined);
  await memory.write(watchOf('w'), told);
  assert.deepEqual(await memory.read(watchOf('w')), told);
  assert.equal(await memory.read(watchOf('w', 'another')), undefined);
  assert.equal(await memory.read(watchOf('v')), undefined);
  assert.deepEqual(JSON.parse(readFileSync(file('w'), 'utf8')), {
    ...{ format: 'minik8s-watched-folder-1', uid: 'uid-w', files: [['in/a', 3, '1700000000123456789']] },
  });
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(file('w')).mode & 0o777, 0o600);
});

it('a file of an earlier version without a uid belongs to the watch of its name', async (context) => {
  const { memory, directory, file } = begin(context);
  mkdirSync(directory);
  writeFileSync(
    file('w'),
    JSON.stringify({ format: 'minik8s-watched-folder-1', files: [['in/a', 3, '1700000000123456789']] }),
  );
  assert.deepEqual(await memory.read(watchOf('w')), told);
});

it('a file with another format, without JSON or without read access is rejected', async (context) => {
  const { memory, directory, file } = begin(context);
  mkdirSync(directory);
  writeFileSync(file('w'), JSON.stringify({ format: 'other-2', uid: 'uid-w', files: [] }));
  await assert.rejects(memory.read(watchOf('w')), /default\.w\.json has the format other-2, not minik8s-/);
  writeFileSync(file('w'), '{');
  await assert.rejects(memory.read(watchOf('w')), SyntaxError);
  rmSync(file('w'));
  mkdirSync(file('w'));
  await assert.rejects(memory.read(watchOf('w')), { code: 'EISDIR' });
});

it('files of other watches and drafts are removed, and no foreign file', async (context) => {
  const { memory, directory } = begin(context);
  await memory.keepOnly([]);
  for (const name of ['w', 'gone']) await memory.write(watchOf(name), told);
  for (const name of ['default.w.json.minik8s-1-2', 'notes', 'json'])
    writeFileSync(join(directory, name), '');
  await memory.keepOnly([watchOf('w'), watchOf('new')]);
  assert.deepEqual(readdirSync(directory).toSorted(), ['default.w.json', 'json', 'notes']);
  await memory.forget(watchOf('w'));
  await memory.forget(watchOf('w'));
  assert.deepEqual(readdirSync(directory).toSorted(), ['json', 'notes']);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
  await assert.rejects(memory.keepOnly([]), { code: 'ENOTDIR' });
});

it('the draft of a file that is being written stays, and is removed like others when writing has failed', async (context) => {
  const { memory, directory, file } = begin(context);
  for (let round = 0; round < 40; round++) {
    let isWritten = false;
    const writing = memory.write(watchOf('w'), told).finally(() => {
      isWritten = true;
    });
    const other = join(directory, 'default.w2.json.minik8s-1-2');
    const tidy = async () => {
      while (!isWritten) await memory.keepOnly([watchOf('w')]);
    };
    await Promise.all([writing, tidy()]);
    writeFileSync(other, '');
    const again = memory.write(watchOf('w'), told);
    await memory.keepOnly([watchOf('w')]);
    assert.ok(!existsSync(other), 'the draft of another watch is removed');
    await again;
  }
  assert.deepEqual(await memory.read(watchOf('w')), told);
  rmSync(file('w'));
  mkdirSync(file('w'));
  await assert.rejects(memory.write(watchOf('w'), told));
  writeFileSync(join(directory, 'default.w.json.minik8s-1-2'), '');
  await memory.keepOnly([watchOf('w')]);
  assert.deepEqual(readdirSync(directory), ['default.w.json']);
});
