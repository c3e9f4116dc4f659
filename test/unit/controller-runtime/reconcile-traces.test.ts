import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { traceAnnotation } from '../../../src/apimachinery/trace-note.ts';
import { currentSpan } from '../../../src/base/tracing/current-span.ts';
import type { FinishedSpan } from '../../../src/base/tracing/span.ts';
import { createTracer } from '../../../src/base/tracing/tracer.ts';
import { tracedTransport } from '../../../src/client/traced-transport.ts';
import type { ApiRequest } from '../../../src/client/transport.ts';
import { ReconcileTraces } from '../../../src/controller-runtime/reconcile-traces.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const traceId = 'a'.repeat(32);
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    uid: '',
    resourceVersion: '',
    creationTimestamp: '',
    annotations: { [traceAnnotation]: `00-${traceId}-${'b'.repeat(16)}-01` },
  },
};

function world() {
  const clock = new FakeClock(0);
  const spans: FinishedSpan[] = [];
  const random = new SeededRandom(1);
  const tracer = createTracer({ clock, random, rate: 1, take: (span) => spans.push(span) });
  const sent: ApiRequest[] = [];
  const inner = {
    request: async (request: ApiRequest) => {
      sent.push(request);
      return { status: 200, header: () => undefined, body: (async function* () {})() };
    },
    close() {},
  };
  const transport = tracedTransport(inner, 'writes');
  const send = async (method: ApiRequest['method']) => void (await transport.request({ method, path: '/' }));
  return { clock, spans, sent, send, traces: new ReconcileTraces(tracer, clock, 'x') };
}

test('a reconcile that writes is a span of its object’s trace, which begins when its key is queued', async () => {
  const { clock, spans, sent, send, traces } = world();
  traces.queued(['a']);
  await clock.advance(30);
  traces.queued(['a']);
  await traces.during('a', object, async () => {
    await clock.advance(5);
    await send('PUT');
  });
  const [queue, reconcile] = spans;
  assert.deepEqual([queue?.name, queue?.from, queue?.to], ['queue', 0, 30]);
  assert.deepEqual([reconcile?.name, reconcile?.from, reconcile?.to], ['reconcile x', 0, 35]);
  assert.equal(reconcile?.context.traceId, traceId);
  assert.equal(sent[0]?.headers?.traceparent, `00-${traceId}-${reconcile?.context.spanId}-01`);
  await traces.during('a', object, () => send('PATCH'));
  assert.equal(spans.at(-1)?.from, 35, 'it waited anew');
});

test('a reconcile that only reads creates no span', async () => {
  const { spans, sent, send, traces } = world();
  await traces.during('a', object, () => send('GET'));
  assert.deepEqual(spans, []);
  assert.equal(sent[0]?.headers?.traceparent, undefined);
});

test('an object without a trace, and a key without an object, are reconciled without a span', async () => {
  const { spans, send, traces } = world();
  const { annotations: _, ...metadata } = object.metadata;
  for (const one of [undefined, { ...object, metadata }])
    await traces.during('a', one, async () => {
      assert.equal(currentSpan(), undefined);
      await send('PUT');
    });
  assert.deepEqual(spans, []);
});
