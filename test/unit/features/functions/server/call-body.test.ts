/** Part of a call's body that is kept, and the answer to a caller who does not send the body. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { beginningOf, maxKept } from '../../../../../src/features/functions/server/call-body.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

function world() {
  const clock = new FakeClock();
  const gone = new AbortController();
  const body = new PassThrough({ highWaterMark: 1024 * 1024 });
  const result: { whole?: Buffer; isStream?: true; code?: number; message?: string } = {};
  const begin = () =>
    void beginningOf(body, clock, gone.signal).then(
      (found) => {
        if (found === body) result.isStream = true;
        else result.whole = found as Buffer;
      },
      (error: unknown) => {
        assert.ok(error instanceof StatusError, String(error));
        result.code = error.status.code;
        result.message = error.message;
      },
    );
  /** Asserts that nothing waits for the body any more. */
  const isLetGo = () => {
    assert.deepEqual([clock.pending, body.listenerCount('data'), body.listenerCount('end')], [0, 0, 0]);
    assert.equal(body.listenerCount('close'), 0);
    assert.equal(getEventListeners(gone.signal, 'abort').length, 0);
  };
  return { clock, gone, body, result, begin, isLetGo };
}

describe('the body of a call', () => {
  it('is buffered up to 256 KiB', () => assert.equal(maxKept, 262_144));
  for (const parts of [[], ['a'], ['a', 'bc', 'd'], ['x'.repeat(maxKept)], ['x'.repeat(maxKept - 1), 'y']])
    it(`is kept completely in ${parts.length} parts of ${parts.join('').length} bytes`, async () => {
      const { clock, body, result, begin, isLetGo } = world();
      begin();
      for (const part of parts) body.write(part);
      await clock.settle();
      assert.deepEqual(result, {}, 'it may go on');
      body.end();
      await clock.settle();
      assert.equal(result.whole?.toString(), parts.join(''));
      isLetGo();
      assert.equal(body.listenerCount('error'), 0);
    });
  for (const parts of [['x'.repeat(maxKept + 1)], ['x'.repeat(maxKept), 'y', 'z']])
    it(`is passed on as a complete stream if it is larger, in ${parts.length} parts`, async () => {
      const { clock, body, result, begin, isLetGo } = world();
      begin();
      for (const part of parts) body.write(part);
      await clock.settle();
      assert.deepEqual(result, { isStream: true });
      isLetGo();
      assert.equal(body.isPaused(), true);
      body.end('end');
      const chunks: Buffer[] = [];
      for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
      assert.equal(Buffer.concat(chunks).toString(), `${parts.join('')}end`);
    });
  it('is kept as it arrived, even if its sender reuses the memory', async () => {
    const { clock, body, result, begin } = world();
    begin();
    const memory = Buffer.from('-abc-');
    body.write(new Uint8Array(memory.buffer, memory.byteOffset + 1, 3));
    body.end('d');
    await clock.settle();
    assert.equal(result.whole?.toString(), 'abcd');
  });
});

describe('a caller that does not send the body', () => {
  const left = 'the request body could not be read: the caller has left';
  for (const [what, leave] of [
    ['has left', ({ gone }) => gone.abort()],
    ['breaks off', ({ body }) => body.destroy(new Error('reset'))],
    ['closes the connection', ({ body }) => body.destroy()],
  ] as const satisfies readonly (readonly [string, (of: ReturnType<typeof world>) => void])[])
    it(`is rejected if it ${what}`, async () => {
      const one = world();
      one.begin();
      one.body.write('a');
      await one.clock.settle();
      leave(one);
      await one.clock.settle();
      assert.deepEqual(one.result, { code: 400, message: left });
      one.isLetGo();
      // A connection may emit several errors.
      one.body.emit('error', new Error('again'));
      one.gone.abort();
    });
  it('is rejected at once if it has disconnected before', async () => {
    const { clock, gone, result, begin, isLetGo } = world();
    gone.abort();
    begin();
    await clock.settle();
    assert.deepEqual(result, { code: 400, message: left });
    isLetGo();
  });
  it('is rejected after a minute', async () => {
    const { clock, body, result, begin, isLetGo } = world();
    begin();
    body.write('a');
    await clock.advance(59_999);
    assert.deepEqual(result, {});
    await clock.advance(1);
    assert.deepEqual(result, { code: 504, message: 'the request body did not arrive within 60 s' });
    isLetGo();
  });
});
