import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Io } from '../../../../src/cli/io.ts';
import type { Batch } from '../../../../src/roles/own-log/file-source.ts';
import { printBatches } from '../../../../src/roles/own-log/print.ts';

async function* batches(): AsyncGenerator<Batch> {
  yield { lines: ['a', 'b'], isCaughtUp: false };
  yield { lines: ['c'], isCaughtUp: true };
  yield { lines: ['later'], isCaughtUp: true };
}

for (const [tail, expected] of [
  [undefined, ['a', 'b', 'c', 'later']],
  [0, ['later']],
  [2, ['b', 'c', 'later']],
  [9, ['a', 'b', 'c', 'later']],
] as const)
  test(`${tail === undefined ? 'all' : `the last ${tail}`} earlier lines and every later line are printed`, async () => {
    let text = '';
    const io = { out: (more: string) => (text += more) } as object as Io;
    await printBatches(io, batches(), { components: [], level: 'debug', format: 'text' }, tail);
    assert.deepEqual(text.split('\n').slice(0, -1), expected);
  });
