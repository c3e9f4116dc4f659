import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { triggerDescriber } from '../../../../../src/features/triggers/ctl/describe.ts';
import { triggerSource } from '../../../../../src/views/trigger-source.ts';

const sources: readonly [spec: JsonObject, text: string][] = [
  [{ cron: { schedule: '@hourly' } }, 'schedule @hourly (UTC)'],
  [
    { http: { path: '/order', methods: ['PUT'] } },
    'PUT /trigger/shop/order by who may create triggers/invoke',
  ],
  [{ http: { path: '/order', public: true } }, 'POST /trigger/shop/order by anyone'],
  [
    { object: { apiVersion: 'v1', kind: 'Pod', namespace: '*', labelSelector: 'a=b', types: ['Created'] } },
    'objects v1/Pod of all namespaces with a=b: Created',
  ],
  [{ object: { apiVersion: 'v1', kind: 'Pod' } }, 'objects v1/Pod of namespace shop: any change'],
  [{ result: { function: 'f', outcomes: ['Failure'] } }, 'results of function f: Failure'],
  [{ file: { claimName: 'in', path: 'new', pattern: '*.csv' } }, 'files *.csv in claim in/new: any change'],
  [{ file: { folder: '/data' } }, 'files * in /data of nodes that allow it: any change'],
];
for (const [spec, text] of sources)
  test(`the source of a Trigger is shown as "${text}"`, () =>
    assert.equal(triggerSource({ metadata: { namespace: 'shop' }, spec }), text));

const event = (name: string, time: string, status: JsonObject): JsonObject => ({
  metadata: { name },
  spec: { time },
  status,
});

test('a Trigger shows its deliveries, the events that wait and the newest five dead letters', () => {
  const object = {
    metadata: { name: 't', namespace: 'shop' },
    spec: {
      cron: { schedule: '@hourly' },
      target: { kind: 'Workflow', name: 'order' },
      retry: { maxAttempts: 5, minSeconds: 1, maxSeconds: 300 },
    },
    status: { delivered: 12, failed: 7, pending: 1, deadLetters: 7, lastTime: '2026-01-01T00:01:00Z' },
  };
  const dead = Array.from({ length: 7 }, (_, index) =>
    event(`dead-${index}`, `2026-01-01T00:00:0${index}Z`, {
      phase: 'Failed',
      attempts: 5,
      lastError: 'answered 500\nmore',
    }),
  );
  const waiting = event('next', '2026-01-01T00:01:30Z', { phase: 'Pending', attempts: 1 });
  const text = descriptionText(triggerDescriber, object, {
    related: { events: { items: [...dead, waiting] } },
    events: undefined,
    now: Date.UTC(2026, 0, 1, 0, 2),
  });
  assert.match(text, /^Target: +Workflow\/order$/m);
  assert.match(text, /^Attempts: +at most 5, 1s to 300s apart$/m);
  assert.match(text, /^ {2}Delivered: +12$/m);
  assert.match(text, /^ {2}Last: .*\(60s ago\)$/m);
  assert.match(text, /^Waiting Events:\n.*\n.*\n {2}next +30s +1 +<none>$/m);
  assert.match(text, /^Dead Letters:\n.*\n.*\n {2}dead-6 +114s +5 +answered 500\n {2}dead-5 /m);
  assert.doesNotMatch(text, /dead-1|more/);
});
