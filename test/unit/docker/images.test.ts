/** Docker's progress streams, with the outcome of a pull or a load. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drain } from '../../../src/docker/images.ts';

async function* lines(...all: readonly object[]): AsyncIterable<Uint8Array> {
  for (const line of all) yield Buffer.from(`${JSON.stringify(line)}\n`);
}

describe('the progress of a pull', () => {
  const progress = { status: 'Downloading', progressDetail: { current: 1, total: 2 } };
  const failed = { reason: 'PullFailed', message: 'Docker cannot pull a: no such manifest' };
  const errorDetail = { message: 'no such manifest' };

  for (const [what, line] of [
    [
      'with the error in both fields, as present engines send it',
      { error: errorDetail.message, errorDetail },
    ],
    ['without the field that newer engines omit', { errorDetail }],
    ['with an empty field, which newer engines may send', { error: '', errorDetail }],
  ] as const) {
    it(`is a failure ${what}`, async () => {
      await assert.rejects(drain(lines(progress, line), 'pull a'), failed);
    });
  }

  it('is a success without an error', async () => {
    await drain(lines(progress, { status: 'Status: Downloaded newer image for a' }), 'pull a');
  });
});
