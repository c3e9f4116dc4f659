import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/api/core/v1/event/event.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { newForbidden, newNotFound, newStatusError } from '../../../src/apimachinery/status-error.ts';
import { aboutObject, EventCorrelator } from '../../../src/controller-runtime/event-correlator.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const pod = (name: string, namespace?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    uid: `uid-${name}`,
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
});

const start = Date.UTC(2026, 0, 1);

function correlator() {
  const events = new EventCorrelator({ component: 'kubelet', host: 'n1' }, new SeededRandom(1));
  let now = start;
  return {
    wait: (ms: number) => {
      now += ms;
    },
    see: (message: string, reason = 'BackOff', name = 'web') =>
      events.correlate({ about: aboutObject(pod(name, 'ns')), type: 'Warning', reason, message, at: now }),
  };
}

test('an event has the fields that Kubernetes clients read', () => {
  const seen = correlator().see('restarting');
  assert.ok(seen && !seen.repeated);
  const { metadata, ...event } = seen.event;
  assert.match(metadata.name, /^web\.[0-9a-f]+$/);
  assert.equal(metadata.namespace, 'ns');
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'ns',
      name: 'web',
      uid: 'uid-web',
      resourceVersion: '7',
    },
    type: 'Warning',
    reason: 'BackOff',
    message: 'restarting',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    source: { component: 'kubelet', host: 'n1' },
    reportingComponent: 'kubelet',
    reportingInstance: 'n1',
  });
});

test('a repeated event is counted, and another message is another event', () => {
  const { see, wait } = correlator();
  const first = see('a');
  wait(5_000);
  const again = see('a');
  assert.equal(again?.repeated, true);
  assert.equal(again.event.metadata.name, first?.event.metadata.name);
  assert.deepEqual(
    [again.event.count, again.event.firstTimestamp, again.event.lastTimestamp],
    [2, '2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z'],
  );
  assert.equal(see('b')?.repeated, false);
  assert.equal(see('a', 'Other')?.repeated, false);
  assert.equal(see('a', 'BackOff', 'other')?.repeated, false);
});

test('more than ten different messages within ten minutes become one', () => {
  const { see, wait } = correlator();
  for (let i = 0; i < 10; i++) assert.equal(see(`message ${i}`)?.event.message, `message ${i}`);
  const combined = see('message 10');
  assert.equal(combined?.event.message, '(combined from similar events): message 10');
  const next = see('message 11');
  assert.deepEqual([next?.repeated, next?.event.count], [true, 2]);
  assert.equal(next?.event.message, '(combined from similar events): message 11');
  assert.equal(see('message 3')?.event.count, 2, 'a known message is still counted for itself');
  wait(600_001);
  assert.equal(see('message 12')?.event.message, 'message 12');
});

test('an object may have 25 events at once and one more every five minutes', () => {
  const { see, wait } = correlator();
  const said = Array.from({ length: 30 }, () => see('a')).filter((seen) => seen !== undefined);
  assert.equal(said.length, 25);
  assert.ok(see('a', 'BackOff', 'other'), 'each object for itself');
  wait(299_000);
  assert.equal(see('a'), undefined);
  wait(1_000);
  assert.equal(see('a')?.event.count, 32, 'dropped events are counted');
});

test('names and messages are within the limits of the API', () => {
  const { see } = correlator();
  const seen = see('x'.repeat(5_000), 'R', 'n'.repeat(253));
  assert.ok(seen);
  assert.equal(seen.event.metadata.name.length, 253);
  assert.equal(seen.event.message?.length, 1_024);
});

test('two events of one object in one millisecond have two names', () => {
  const { see } = correlator();
  const names = new Set(Array.from({ length: 10 }, (_, i) => see('m', `Reason${i}`)?.event.metadata.name));
  assert.equal(names.size, 10);
});

function setUp() {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const stored = new Map<string, Event>();
  const state = { requests: [] as string[], failure: undefined as Error | undefined };
  const resource = {
    create: async (event: Event) => {
      state.requests.push(`create ${event.reason}`);
      if (state.failure) throw state.failure;
      stored.set(event.metadata.name, event);
      return event;
    },
    patch: async (name: string, _namespace: string, _type: string, body: Partial<Event>) => {
      state.requests.push(`patch ${body.count}`);
      if (state.failure) throw state.failure;
      const event = stored.get(name);
      if (!event) throw newNotFound({ group: '', plural: 'events' }, name);
      stored.set(name, { ...event, ...body });
    },
  };
  const recorder = createEventRecorder({
    client: { resource: () => resource as never },
    clock,
    random: new SeededRandom(1),
    log,
    component: 'test',
  });
  return { clock, log, stored, state, recorder };
}

test('recording neither waits nor throws, and events of cluster-scoped objects are in namespace default', async () => {
  const { clock, stored, recorder } = setUp();
  assert.equal(recorder.event(pod('node-1'), 'Normal', 'Ready', 'it is'), undefined);
  assert.equal(stored.size, 0);
  await clock.settle();
  assert.deepEqual(
    [...stored.values()].map((event) => event.metadata.namespace),
    ['default'],
  );
  await recorder.stop();
  assert.equal(clock.pending, 0);
});

test('while the API is unreachable events wait, in order, and are retried', async () => {
  const { clock, stored, state, recorder } = setUp();
  state.failure = new Error('connection refused');
  recorder.event(pod('a', 'ns'), 'Normal', 'First', 'm');
  recorder.event(pod('a', 'ns'), 'Normal', 'Second', 'm');
  await clock.advance(30_000);
  assert.deepEqual(state.requests, Array(4).fill('create First'));
  state.failure = undefined;
  await clock.advance(10_000);
  assert.deepEqual(
    [...stored.values()].map((event) => event.reason),
    ['First', 'Second'],
  );
  await recorder.stop();
});

test('an event that the API rejects is not retried', async () => {
  const { clock, state, recorder } = setUp();
  state.failure = newForbidden({ group: '', plural: 'events' }, 'a', 'the namespace is being terminated');
  recorder.event(pod('a', 'ns'), 'Normal', 'First', 'm');
  await clock.advance(600_000);
  assert.deepEqual(state.requests, ['create First']);
  await recorder.stop();
});

test('events above 1000 that cannot be written in time are dropped, and this is logged', async () => {
  const { clock, log, state, stored, recorder } = setUp();
  state.failure = new Error('connection refused');
  for (let i = 0; i < 1_500; i++) recorder.event(pod(`p-${i}`, 'ns'), 'Normal', 'R', 'm');
  await clock.settle();
  state.failure = undefined;
  await clock.advance(10_000);
  await clock.advance(1_000);
  assert.equal(stored.size, 1_000);
  assert.deepEqual(
    log.of('warn').map((line) => line.fields),
    [{}, { count: 500 }],
  );
  await recorder.stop();
});

test('an object with too many events does not prevent the events of other objects', async () => {
  const { clock, stored, recorder } = setUp();
  for (let i = 0; i < 40; i++) {
    recorder.event(pod('noisy', 'ns'), 'Normal', `Reason${i}`, 'm');
    await clock.settle();
  }
  recorder.event(pod('quiet', 'ns'), 'Normal', 'R', 'm');
  await clock.settle();
  assert.equal(stored.size, 26);
  await recorder.stop();
});

test('the waiting events are written within a time limit at a stop', async () => {
  const { clock, stored, recorder } = setUp();
  for (let i = 0; i < 20; i++) recorder.event(pod(`p-${i}`, 'ns'), 'Normal', 'R', 'm');
  await recorder.stop();
  assert.equal(stored.size, 20);
  recorder.event(pod('late', 'ns'), 'Normal', 'R', 'm');
  await clock.settle();
  assert.equal(stored.size, 20);

  const stuck = setUp();
  const recorderOfStuck = createEventRecorder({
    client: { resource: () => ({ create: () => new Promise(() => undefined) }) as never },
    clock: stuck.clock,
    random: new SeededRandom(1),
    log: stuck.log,
    component: 'test',
  });
  for (let i = 0; i < 3; i++) recorderOfStuck.event(pod(`p-${i}`, 'ns'), 'Normal', 'R', 'm');
  const stopped = recorderOfStuck.stop();
  await stuck.clock.advance(5_000);
  await stopped;
  assert.deepEqual(
    stuck.log.of('warn').map((line) => line.fields),
    [{ count: 2 }],
  );
});

test("an event above the server's rate is sent again after its Retry-After", async () => {
  const { clock, stored, state, recorder } = setUp();
  state.failure = newStatusError('TooManyRequests', 'slower', { retryAfterSeconds: 3 });
  recorder.event(pod('p', 'ns'), 'Normal', 'R', 'm');
  await clock.settle();
  assert.equal(state.requests.length, 1);
  await clock.advance(2_999);
  assert.equal(state.requests.length, 1);
  state.failure = undefined;
  await clock.advance(1);
  assert.equal(stored.size, 1);
  await recorder.stop();
});
