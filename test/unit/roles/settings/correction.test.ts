import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { untilCorrected } from '../../../../src/roles/settings/correction.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'minik8s-correction-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

for (const [how, save] of [
  ['written', (path: string) => writeFileSync(path, 'port: 6443\n')],
  [
    'replaced',
    (path: string) => {
      writeFileSync(`${path}.new`, 'port: 6443\n');
      renameSync(`${path}.new`, path);
    },
  ],
] as const)
  test(`the wait for a correction lasts until a file of the directory is ${how}`, async () => {
    const path = join(directory, 'master.yaml');
    writeFileSync(path, 'port: many\n');
    let isOver = false;
    const waiting = untilCorrected(directory).then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    save(path);
    await waiting;
  });

test('a directory that does not exist ends the wait at once', () => untilCorrected(join(directory, 'none')));
