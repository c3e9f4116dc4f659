import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  apart,
  currentSpan,
  during,
  inChildSpan,
  inChildSpanNow,
  inSpan,
  withinNow,
} from '../../../../src/base/tracing/current-span.ts';
import type { FinishedSpan } from '../../../../src/base/tracing/span.ts';
import { formatTraceparent } from '../../../../src/base/tracing/trace-context.ts';
import { createTracer } from '../../../../src/base/tracing/tracer.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

function world(rate = 1) {
  const clock = new FakeClock(1_000_000);
  const spans: FinishedSpan[] = [];
  const tracer = createTracer({ clock, random: new SeededRandom(5), rate, take: (span) => spans.push(span) });
  return { clock, spans, tracer, names: () => spans.map(({ name }) => name) };
}

test('a span has its start, end, parent and error; it can end only once', async () => {
  const { clock, spans, tracer } = world();
  const outer = tracer.start('a', 'outer', undefined, { kind: 'server', attributes: { x: 1 } });
  await clock.advance(10);
  const inner = outer.child('inner');
  inner.fail('why');
  inner.fail('another');
  await clock.advance(5);
  inner.end();
  outer.set({ y: 'z'.repeat(1000) });
  outer.end();
  outer.end();
  const [first, second, ...more] = spans;
  assert.deepEqual(more, []);
  assert.deepEqual(
    { name: first?.name, from: first?.from, to: first?.to, error: first?.error, kind: first?.kind },
    { name: 'inner', from: 1_000_010, to: 1_000_015, error: 'why', kind: 'internal' },
  );
  assert.equal(first?.parent, outer.context.spanId);
  assert.equal(first?.context.traceId, second?.context.traceId);
  assert.equal(second?.parent, undefined);
  assert.deepEqual([second?.from, second?.to, second?.kind], [1_000_000, 1_000_015, 'server']);
  assert.deepEqual(second?.attributes, { x: 1, y: 'z'.repeat(256) });
});

test('a string in a span is truncated between two characters, since collectors reject requests with half a character', () => {
  const { spans, tracer } = world();
  const text = `${'x'.repeat(255)}😀 and more`;
  const span = tracer.start('a', text, undefined, { attributes: { path: text, odd: 'a\ud83db' } });
  span.fail(text);
  span.end();
  const short = `${'x'.repeat(255)}\ufffd`;
  assert.deepEqual([spans[0]?.name, spans[0]?.error], [short, short]);
  assert.deepEqual(spans[0]?.attributes, { path: short, odd: 'a\ufffdb' });
});

test('the rate decides at the root of a trace; a parent decides for all its children', () => {
  const { spans, tracer, names } = world(0);
  tracer.start('a', 'root', undefined).child('below').end();
  const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
  tracer.start('a', 'recorded', parent).end();
  tracer.start('a', 'not recorded', { ...parent, sampled: false }).end();
  assert.deepEqual(names(), ['recorded']);
  assert.equal(spans[0]?.parent, parent.spanId);
});

test('an optional span is recorded with its children once one of them is kept, and otherwise dropped', () => {
  const { tracer, names } = world();
  const forgotten = tracer.start('a', 'forgotten', undefined, { isTentative: true });
  forgotten.child('in it').end();
  forgotten.end();
  forgotten.keep();
  assert.deepEqual(names(), []);
  const kept = tracer.start('a', 'kept', undefined, { isTentative: true });
  kept.child('before').end();
  const deep = kept.child('middle', { isTentative: true }).child('deep');
  deep.keep();
  deep.end();
  kept.child('after').end();
  kept.end();
  assert.deepEqual(names(), ['before', 'deep', 'after', 'kept']);
});

test('optional spans are held up to a limit', () => {
  const { tracer, spans } = world();
  const span = tracer.start('a', 'held', undefined, { isTentative: true });
  for (let i = 0; i < 1000; i++) span.child('below').end();
  span.keep();
  span.end();
  assert.equal(spans.length, 257);
});

test('a trace annotation is used only while it is new and valid', async () => {
  const { clock, tracer } = world();
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
  const note = formatTraceparent(context);
  assert.deepEqual(tracer.follow(note), context);
  await clock.advance(9 * 60_000);
  assert.deepEqual(tracer.follow(note), context);
  await clock.advance(2 * 60_000);
  assert.equal(tracer.follow(note), undefined);
  assert.equal(tracer.follow(undefined), undefined);
  assert.equal(tracer.follow('nonsense'), undefined);
  assert.equal(tracer.follow(formatTraceparent({ ...context, sampled: false })), undefined);
});

test('code belongs to the span in which it started, also after a wait and beside other spans', async () => {
  const { tracer, spans } = world();
  assert.equal(currentSpan(), undefined);
  const work = async (name: string) => {
    await turn();
    await inChildSpan(`in ${name}`, {}, async () => {
      await turn();
      inChildSpanNow(`deep in ${name}`, () => undefined);
    });
  };
  await Promise.all(['a', 'b'].map((name) => during(tracer.start('s', name, undefined), () => work(name))));
  const nameOf = (id: string | undefined) => spans.find(({ context }) => context.spanId === id)?.name;
  assert.deepEqual(spans.map(({ name, parent }) => [name, nameOf(parent)]).toSorted(), [
    ['a', undefined],
    ['b', undefined],
    ['deep in a', 'in a'],
    ['deep in b', 'in b'],
    ['in a', 'a'],
    ['in b', 'b'],
  ]);
});

test('a child that outlives its span belongs to the enclosing span, and to none when all have ended', async () => {
  const { tracer } = world();
  const outer = tracer.start('s', 'outer', undefined);
  const inner = outer.child('inner');
  const gate = Promise.withResolvers<void>();
  const seen: (string | undefined)[] = [];
  const running = inSpan(inner, async () => {
    seen.push(currentSpan()?.context.spanId);
    await gate.promise;
    seen.push(currentSpan()?.context.spanId);
    outer.end();
    seen.push(currentSpan()?.context.spanId);
  });
  inner.end();
  gate.resolve();
  await running;
  assert.deepEqual(seen, [inner.context.spanId, outer.context.spanId, undefined]);
});

test('work in a queue runs within the span of its creator, and shared work within none', () => {
  const { tracer } = world();
  const [one, other] = [tracer.start('s', 'one', undefined), tracer.start('s', 'other', undefined)];
  const queued = inSpan(one, () => withinNow(() => currentSpan()));
  inSpan(other, () => {
    assert.equal(queued(), one);
    assert.equal(apart(currentSpan), undefined);
    assert.equal(currentSpan(), other);
  });
});

test('an error is recorded by its type, not by its message', async () => {
  const { tracer, spans } = world();
  class Odd extends Error {
    override readonly name = 'OddError';
    readonly reason = 'NoSuchThing';
  }
  const failing = during(tracer.start('s', 'x', undefined), () => Promise.reject(new Odd('password=4711')));
  await assert.rejects(failing, /4711/);
  assert.equal(spans[0]?.error, 'OddError NoSuchThing');
});

test('work runs unchanged if nothing is recorded', async () => {
  const { tracer, spans } = world(0);
  assert.equal(await inChildSpan('x', {}, async () => 7), 7);
  const span = tracer.start('s', 'not recorded', undefined);
  await during(span, () => inChildSpan('below', {}, async () => assert.equal(currentSpan(), span)));
  assert.deepEqual(spans, []);
});
