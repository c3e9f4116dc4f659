import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracesUrl } from '../../../../src/base/tracing/endpoint.ts';
import { otlpRefused, otlpRequest } from '../../../../src/base/tracing/otlp.ts';
import type { FinishedSpan } from '../../../../src/base/tracing/span.ts';

const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const from = Date.UTC(2026, 0, 1) + 0.125;

test('spans are grouped by service, as OTLP encodes them in JSON', () => {
  const one: FinishedSpan = {
    service: 'apiserver',
    name: 'GET /x',
    kind: 'server',
    context,
    parent: 'c'.repeat(16),
    link: { ...context, spanId: 'd'.repeat(16) },
    from,
    to: from + 2.5,
    attributes: { text: 'a', whole: 3, part: 0.5, yes: true, no: undefined },
    error: 'why',
  };
  const root: FinishedSpan = {
    ...{ service: 'ctl', name: 'ctl apply', kind: 'client', context, from, to: from, attributes: {} },
  };
  const { resourceSpans } = JSON.parse(otlpRequest([one, root, one], 'here', '1.2'));
  assert.deepEqual(
    resourceSpans.map(({ resource, scopeSpans }: { resource: object; scopeSpans: { spans: [] }[] }) => [
      resource,
      scopeSpans[0]?.spans.length,
    ]),
    ['apiserver', 'ctl'].map((name, i) => [
      {
        attributes: [
          { key: 'service.name', value: { stringValue: name } },
          { key: 'host.name', value: { stringValue: 'here' } },
        ],
      },
      2 - i,
    ]),
  );
  assert.deepEqual(resourceSpans[0].scopeSpans[0].scope, { name: 'minik8s', version: '1.2' });
  assert.deepEqual(resourceSpans[0].scopeSpans[0].spans[0], {
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId: 'c'.repeat(16),
    flags: 1,
    name: 'GET /x',
    kind: 2,
    startTimeUnixNano: '1767225600000125000',
    endTimeUnixNano: '1767225600002625000',
    attributes: [
      { key: 'text', value: { stringValue: 'a' } },
      { key: 'whole', value: { intValue: '3' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
    ],
    links: [{ traceId: context.traceId, spanId: 'd'.repeat(16) }],
    status: { code: 2, message: 'why' },
  });
  assert.equal(resourceSpans[1].scopeSpans[0].spans[0].parentSpanId, undefined);
  assert.equal(resourceSpans[1].scopeSpans[0].spans[0].kind, 3);
});

test('a partial rejection by a collector is parsed', () => {
  const partial = { partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } };
  assert.deepEqual(otlpRefused(JSON.stringify(partial)), {
    count: 3,
    why: 'the collector refused them: too old',
  });
  for (const text of [
    '',
    '{}',
    'null',
    '[',
    '<html>',
    '{"partialSuccess":{"rejectedSpans":"x"}}',
    '{"partialSuccess":{"rejectedSpans":-1}}',
  ])
    assert.equal(otlpRefused(text).count, 0, text);
});

test('the message of a collector is truncated and contains no control characters', () => {
  const partialSuccess = { rejectedSpans: 1, errorMessage: `\u001b[2Jgone\n\u202e${'x'.repeat(1000)}` };
  const { why } = otlpRefused(JSON.stringify({ partialSuccess }));
  assert.match(why, /^the collector refused them: {2}\[2Jgone {2}x+$/);
  assert.ok(why.length < 300, `${why.length}`);
});

const urls: [given: string, expected: string | undefined][] = [
  ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
  ['http://127.0.0.1:4318/', 'http://127.0.0.1:4318/v1/traces'],
  ['https://collector.example.com/otlp/', 'https://collector.example.com/otlp/v1/traces'],
  ['https://collector.example.com/v1/traces', 'https://collector.example.com/v1/traces'],
  ['127.0.0.1:4318', undefined],
  ['grpc://127.0.0.1:4317', undefined],
  ['http://me:secret@127.0.0.1:4318', undefined],
  ['http://127.0.0.1:4318?key=secret', undefined],
  ['', undefined],
];
for (const [given, expected] of urls) {
  test(`the endpoint ${JSON.stringify(given)} is ${expected === undefined ? 'rejected' : `read as ${expected}`}`, () => {
    if (expected !== undefined) assert.equal(tracesUrl(given).href, expected);
    else
      assert.throws(
        () => tracesUrl(given),
        /expected a URL such as http:\/\/127\.0\.0\.1:4318, without a password/,
      );
  });
}
