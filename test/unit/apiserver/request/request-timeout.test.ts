/** Timeout of a request, and the treatment of an answer that arrives later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { answerWithin, requestTimeout } from '../../../../src/apiserver/request/request-timeout.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

for (const [text, ms] of [
  ['', undefined],
  ['0', undefined],
  ['0s', undefined],
  ['-5s', undefined],
  ['+5s', 5000],
  ['1ms', 1],
  ['1.5s', 1500],
  ['60s', 60_000],
  ['61s', 60_000],
  ['2562047h', 60_000],
] as const) {
  test(`timeout=${text} is ${ms === undefined ? 'no limit' : `${ms} ms`}`, () => {
    assert.equal(requestTimeout(new URLSearchParams({ timeout: text })), ms);
  });
}

test('an invalid duration is rejected', () => {
  for (const text of ['5', 'soon', '--5s', '1d'])
    assert.throws(
      () => requestTimeout(new URLSearchParams({ timeout: text })),
      (error) => error instanceof StatusError && error.status.code === 400,
      text,
    );
});

test('the error of an invalid timeout shows the beginning of the value', () => {
  const text = `x${'y'.repeat(62)}z!`;
  assert.throws(
    () => requestTimeout(new URLSearchParams({ timeout: text })),
    (error) =>
      error instanceof StatusError && error.message.includes(`"${text.slice(0, 64)}" is not a duration`),
  );
});

test('a request that takes too long is aborted, and its late answer is discarded', async () => {
  const clock = new FakeClock();
  const answer = Promise.withResolvers<Response>();
  let signal: AbortSignal | undefined;
  const asked = answerWithin(clock, 1000, (given) => {
    signal = given;
    return answer.promise;
  });
  const refused = assert.rejects(asked, (error) => error instanceof StatusError && error.status.code === 504);
  await clock.advance(999);
  assert.equal(signal?.aborted, false);
  await clock.advance(1);
  assert.equal(signal?.aborted, true);
  await refused;
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
  };
  answer.resolve(new Response(new ReadableStream({ cancel })));
  await clock.settle();
  assert.equal(cancelled, true, 'the producer of the body is cancelled');
});

test('a request that is done in time is not aborted afterwards', async () => {
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const answer = await answerWithin(clock, 1000, async (given) => {
    signal = given;
    return new Response('done');
  });
  assert.equal(await answer.text(), 'done');
  assert.equal(clock.pending, 0);
  assert.equal(signal?.aborted, false);
});

test('an error of a request is returned, and its timer is cancelled', async () => {
  const clock = new FakeClock();
  const failing = answerWithin(clock, 1000, async () => {
    throw new RangeError('its own');
  });
  await assert.rejects(failing, RangeError);
  assert.equal(clock.pending, 0);
});
