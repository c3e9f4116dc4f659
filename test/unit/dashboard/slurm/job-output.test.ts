/** The output of SlurmJobs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outputFiles } from '../../../../src/dashboard/app/pages/slurm/plan/job-output.ts';

const piece = (path: string, offset: number, bytes: Uint8Array | string) => ({
  spec: { path, kind: 'Output', offset, data: Buffer.from(bytes).toString('base64') },
});

describe('the output of a job', () => {
  it('is put together in order, whatever the order of its pieces', () => {
    const files = outputFiles([
      piece('stdout', 6, 'two\n'),
      piece('stdout', 0, 'one\n..'),
      piece('log', 0, 'x'),
    ]);
    assert.deepEqual(
      files.map(({ path, text, bytes }) => [path, text, bytes]),
      [
        ['stdout', 'one\n..two\n', 10],
        ['log', 'x', 1],
      ],
    );
  });

  it('ends before a piece that has not arrived', () => {
    const [file] = outputFiles([piece('stdout', 0, 'one'), piece('stdout', 9, 'three')]);
    assert.deepEqual([file?.text, file?.bytes], ['one', 3]);
  });

  it('decodes a character whose bytes are in two pieces', () => {
    const bytes = Buffer.from('grün');
    const [file] = outputFiles([
      piece('stdout', 0, bytes.subarray(0, 3)),
      piece('stdout', 3, bytes.subarray(3)),
    ]);
    assert.equal(file?.text, 'grün');
  });
});
