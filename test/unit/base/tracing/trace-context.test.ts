import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatTraceparent,
  isSampled,
  newSpanId,
  newTraceId,
  parseTraceparent,
} from '../../../../src/base/tracing/trace-context.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

const read: [text: string, sampled: boolean][] = [
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`cc-${traceId}-${spanId}-01`, true],
  [`cc-${traceId}-${spanId}-01-what-comes-later`, true],
];
for (const [text, sampled] of read) {
  test(`the traceparent ${text} is parsed`, () =>
    assert.deepEqual(parseTraceparent(text), { traceId, spanId, sampled }));
}

const refused = [
  '',
  'x',
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-1`,
  ` 00-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\n`,
  `cc-${traceId}-${spanId}-01-${'x'.repeat(10_000)}`,
];
for (const text of refused) {
  test(`the traceparent ${JSON.stringify(text).slice(0, 80)} is rejected`, () =>
    assert.equal(parseTraceparent(text), undefined));
}

test('a formatted header is parsed unchanged', () => {
  for (const sampled of [true, false]) {
    const context = { traceId, spanId, sampled };
    assert.deepEqual(parseTraceparent(formatTraceparent(context)), context);
  }
  assert.equal(parseTraceparent(undefined), undefined);
  assert.equal(parseTraceparent(null), undefined);
});

test('generated ids are valid, and all different', () => {
  const random = new SeededRandom(1);
  const traces = Array.from({ length: 100 }, () => newTraceId(random));
  const spans = Array.from({ length: 100 }, () => newSpanId(random));
  for (const id of traces) assert.match(id, /^[0-9a-f]{32}$/);
  for (const id of spans) assert.match(id, /^[0-9a-f]{16}$/);
  assert.equal(new Set([...traces, ...spans]).size, 200);
});

test('the rate determines the share of recorded traces, which are the same in every process', () => {
  const random = new SeededRandom(2);
  const ids = Array.from({ length: 4000 }, () => newTraceId(random));
  const of = (rate: number) => ids.filter((id) => isSampled(id, rate));
  assert.equal(of(0).length, 0);
  assert.equal(of(1).length, ids.length);
  assert.ok(Math.abs(of(0.25).length - 1000) < 120, `${of(0.25).length}`);
  const half = new Set(of(0.5));
  assert.ok(of(0.25).every((id) => half.has(id)));
  assert.equal(isSampled('f'.repeat(32), 1), true);
  assert.equal(isSampled(`${'f'.repeat(31)}f`, 0.999), false);
});
