/** A command as a span: the exported data, the receivers, and the cost of an unreachable collector. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { FinishedSpan } from '../../../src/base/tracing/span.ts';
import { createTracer } from '../../../src/base/tracing/tracer.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { type OtlpReceiver, receiveOtlp } from '../../fixtures/otlp-receiver.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

let server: HttpsTestServer;
let receiver: OtlpReceiver;
let ctl: Ctl;
const spans: FinishedSpan[] = [];
const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const parent = `00-${traceId}-00f067aa0ba902b7-01`;

before(async () => {
  const random = new SeededRandom(1);
  const tracer = createTracer({ clock: systemClock, random, rate: 0, take: (span) => spans.push(span) });
  server = await startHttpsTestServer({ tracer });
  receiver = await receiveOtlp();
  ctl = ctlFor(await server.kubeconfigFor('ada', ['system:masters']));
});

after(async () => {
  await receiver.close();
  await server.stop();
});

const requestsIn = (trace: string) =>
  spans.filter(({ context, kind }) => context.traceId === trace && kind === 'server');

test('a command is a span at the collector, and the server’s requests are in it', async () => {
  const { status, err } = await ctl(['get', 'namespaces'], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  assert.deepEqual([status, err], [0, '']);
  const command = receiver.spans.find(({ name }) => name === 'ctl get');
  assert.ok(command);
  assert.equal(command.service, 'ctl');
  assert.equal(command.parent, undefined);
  const requests = requestsIn(command.context.traceId);
  assert.ok(requests.length > 0);
  for (const request of requests) assert.equal(request.parent, command.context.spanId);
});

test('a command belongs to the trace of TRACEPARENT, also a command of two words', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, TRACEPARENT: parent };
  const { status } = await ctl(['config', 'view'], { env });
  assert.equal(status, 0);
  const command = receiver.spans.find(({ name }) => name === 'ctl config view');
  assert.equal(command?.context.traceId, traceId);
  assert.equal(command?.parent, '00f067aa0ba902b7');
});

test('TRACEPARENT without a collector is sent to the server unchanged', async () => {
  const trace = 'decafbaddecafbaddecafbaddecafbad';
  await ctl(['get', 'namespaces'], { env: { TRACEPARENT: `00-${trace}-00f067aa0ba902b7-01` } });
  const requests = requestsIn(trace);
  assert.ok(requests.length > 0);
  for (const request of requests) assert.equal(request.parent, '00f067aa0ba902b7');
});

test('a command that fails is a span that failed, without the words', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const { status } = await ctl(['get', 'configmap', 'hunter2'], { env });
  assert.equal(status, 1);
  const body = receiver.bodies.at(-1) ?? '';
  assert.match(body, /"status":\{"code":2,"message":"StatusError/);
  assert.ok(!body.includes('hunter2'));
});

test('with a rate of 0 neither the client nor the server records spans', async () => {
  const [before, sent] = [spans.length, receiver.bodies.length];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER_ARG: '0' };
  assert.equal((await ctl(['get', 'namespaces'], { env })).status, 0);
  assert.deepEqual([spans.length, receiver.bodies.length], [before, sent]);
});

test('an invalid variable causes a warning, and the command still runs', async () => {
  for (const [env, why] of [
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' },
      /^warning: OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL such as/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER_ARG: 'half' },
      /^warning: OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1/,
    ],
  ] as const) {
    const { status, out, err } = await ctl(['get', 'namespaces'], { env });
    assert.equal(status, 0);
    assert.match(out, /default/);
    assert.match(err, why);
  }
});

test('a collector that refuses connections, and one that never answers, delay the command only briefly', async (context) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  context.after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  for (const [address, why] of [
    [await freePort(), /^warning: spans of traces were dropped: no answer from http:.*ECONNREFUSED/],
    [port, /^warning: spans of traces were dropped: not sent within 1000 ms/],
  ] as const) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address}` };
    const { status, out, err } = await ctl(['get', 'namespaces'], { env });
    assert.equal(status, 0);
    assert.match(out, /default/);
    assert.match(err, why);
  }
});
