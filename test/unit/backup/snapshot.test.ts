import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { saveSnapshot } from '../../../src/backup/snapshot.ts';

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest();
const database = randomBytes(1_000);
const sent = Buffer.concat([database, sha256(database)]);

const inPartsOf = (content: Buffer, length: number) => ({
  async *snapshot() {
    for (let at = 0; at < content.length; at += length) yield content.subarray(at, at + length);
  },
});

for (const length of [1, 7, 31, 32, 33, 500, 999, 1_000, 1_001, 1_031, 1_032])
  test(`a snapshot in parts of ${length} bytes is complete, and incomplete without its last byte`, async (context) => {
    const directory = await mkdtemp(join(tmpdir(), 'minik8s-snapshot-'));
    context.after(() => rm(directory, { recursive: true }));
    const path = join(directory, 'whole');
    const saved = await saveSnapshot(inPartsOf(sent, length), path);
    assert.deepEqual(saved, { size: sent.length, sha256: sha256(sent).toString('hex') });
    assert.deepEqual(await readFile(path), sent);
    const cut = inPartsOf(sent.subarray(0, -1), length);
    await assert.rejects(saveSnapshot(cut, join(directory, 'cut')), /incomplete snapshot/);
  });
