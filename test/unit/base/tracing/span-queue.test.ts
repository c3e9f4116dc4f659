import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishedSpan } from '../../../../src/base/tracing/span.ts';
import { SpanQueue, type SpanQueueOptions } from '../../../../src/base/tracing/span-queue.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

const span = (name: string): FinishedSpan => ({
  service: 's',
  name,
  kind: 'internal',
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  from: 0,
  to: 0,
  attributes: {},
});

const took = { count: 0, why: '' };

function queueOf(send: SpanQueueOptions['send'], limits: Partial<SpanQueueOptions> = {}) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const queue = new SpanQueue({ send, clock, log, ...limits });
  const add = (...names: string[]) => {
    for (const name of names) queue.add(span(name));
  };
  return { clock, log, queue, add };
}

test('spans that end at about the same time are sent together, up to a limit for each request, one request at a time', async () => {
  const sent: string[][] = [];
  let under = 0;
  const { clock, add, queue } = queueOf(
    async (spans) => {
      assert.equal(under++, 0);
      await null;
      under--;
      sent.push(spans.map(({ name }) => name));
      return took;
    },
    { atOnce: 2 },
  );
  add('a', 'b', 'c');
  assert.deepEqual(sent, []);
  await clock.advance(1_000);
  assert.deepEqual(sent, [['a', 'b'], ['c']]);
  add('d');
  await clock.advance(1_000);
  assert.deepEqual(sent.at(-1), ['d']);
  assert.equal(queue.dropped, 0);
  assert.equal(clock.pending, 0, 'at rest it costs nothing');
});

test('spans wait up to a limit while the collector is unreachable; the rest is dropped, counted, and logged once a minute', async () => {
  let attempts = 0;
  let isAway = true;
  const got: string[] = [];
  const { clock, log, add, queue } = queueOf(
    async (spans) => {
      attempts++;
      if (isAway) throw new Error('no answer');
      got.push(...spans.map(({ name }) => name));
      return took;
    },
    { most: 3 },
  );
  add('a', 'b', 'c', 'd', 'e');
  await clock.advance(59_000);
  assert.deepEqual(log.lines, []);
  await clock.advance(2_000);
  assert.deepEqual(
    log.of('warn').map(({ fields }) => fields),
    [{ dropped: 2, why: 'no answer' }],
  );
  add('f');
  await clock.advance(61_000);
  assert.deepEqual(log.of('warn').at(-1)?.fields, { dropped: 1, why: 'no answer' });
  assert.equal(log.lines.length, 2);
  assert.ok(attempts >= 4 && attempts <= 9, `${attempts} attempts in two minutes`);
  isAway = false;
  await clock.advance(31_000);
  assert.deepEqual(got, ['a', 'b', 'c']);
  assert.equal(queue.dropped, 3);
  await clock.advance(120_000);
  assert.equal(log.lines.length, 2, 'nothing new is nothing to tell');
});

test('a request to a collector that never answers is aborted, and its spans are sent again', async () => {
  const signals: AbortSignal[] = [];
  const { clock, add, queue } = queueOf((_, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  add('a');
  await clock.advance(11_000);
  assert.equal(signals[0]?.aborted, true);
  await clock.advance(2_000);
  assert.equal(signals.length, 2);
  assert.equal(queue.dropped, 0);
});

test('pauses between requests that fail double up to 30 s, and start over after one that succeeds', async () => {
  const at: number[] = [];
  let isAway = true;
  const { clock, add } = queueOf(async () => {
    at.push(clock.monotonic());
    if (isAway) throw new Error('away');
    return took;
  });
  add('a');
  await clock.advance(91_000);
  assert.deepEqual(at, [1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
  isAway = false;
  await clock.advance(30_000);
  add('b');
  await clock.advance(1_000);
  assert.deepEqual(at.slice(7), [121_000, 122_000]);
});

test('refused spans are dropped and not sent again', async () => {
  let requests = 0;
  const { clock, add, queue, log } = queueOf(async () => {
    requests++;
    return { count: 2, why: 'answered 400' };
  });
  add('a', 'b', 'c');
  await clock.advance(62_000);
  assert.equal(requests, 1);
  assert.equal(queue.dropped, 2);
  assert.deepEqual(log.of('warn')[0]?.fields, { dropped: 2, why: 'answered 400' });
});

test('when the queue closes, waiting spans are sent at once; spans that end later are dropped', async () => {
  const sent: string[] = [];
  const { clock, add, queue, log } = queueOf(async (spans) => {
    sent.push(...spans.map(({ name }) => name));
    return took;
  });
  add('a');
  await clock.until(queue.close(1_000), 0);
  assert.deepEqual(sent, ['a']);
  add('b');
  assert.equal(queue.dropped, 1);
  assert.equal(clock.pending, 0);
  assert.deepEqual(log.lines, []);
});

test('the close of the queue waits a limited time for a silent collector, and logs the dropped spans', async () => {
  const { clock, add, queue, log } = queueOf(() => new Promise(() => undefined));
  add('a', 'b');
  await clock.advance(1_000);
  await clock.until(queue.close(1_000), 1_000);
  assert.equal(queue.dropped, 2);
  assert.deepEqual(log.of('warn')[0]?.fields, { dropped: 2, why: 'not sent within 1000 ms' });
  assert.equal(clock.pending, 0);
});
