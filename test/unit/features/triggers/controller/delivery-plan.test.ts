/** Order of deliveries, the content that is sent, and the times of retries. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rfc3339 } from '../../../../../src/base/time.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import {
  afterFailure,
  chainAfter,
  eventBody,
  isLastAttempt,
  maxAtOnce,
  planDeliveries,
} from '../../../../../src/features/triggers/controller/delivery-plan.ts';

const now = Date.parse('2026-03-01T12:00:30Z');
const trigger = (spec: object = {}) =>
  ({
    metadata: { name: 't', namespace: 'default', uid: 'u' },
    spec: { retry: { maxAttempts: 3, minSeconds: 2, maxSeconds: 5 }, deadLetters: { limit: 1 }, ...spec },
  }) as unknown as Trigger;
const event = (
  status?: TriggerEvent['status'],
  { created = 60, version = 1, ...spec }: { created?: number; version?: number } & object = {},
) =>
  ({
    metadata: { resourceVersion: String(version), creationTimestamp: rfc3339(now - created * 1000) },
    spec: { trigger: 't', id: 'i', type: 'T', source: '/s', time: 'Z', depth: 0, replays: 0, ...spec },
    status,
  }) as unknown as TriggerEvent;
const at = (seconds: number) => rfc3339(now + seconds * 1000);
const plan = (events: readonly TriggerEvent[], facts: object = {}, spec: object = {}) =>
  planDeliveries(trigger(spec), events, { now, underWay: 0, free: 100, isBusy: () => false, ...facts });

describe('deliveries', () => {
  it('are at most ten per trigger at once', () => assert.equal(maxAtOnce, 10));

  it('begin with the oldest event, and within a second with the event that was stored first', () => {
    const events = [
      event(undefined, { created: 10, version: 3 }),
      event(undefined, { created: 20, version: 10 }),
      event(undefined, { created: 20, version: 9 }),
      event(undefined, { created: 30, version: 40 }),
    ];
    assert.deepEqual(plan(events).start, [events[3], events[2], events[1], events[0]]);
  });

  it('do not wait without events', () => {
    const nothing = { start: [], waiting: 0, discard: [], again: undefined, pending: 0, deadLetters: 0 };
    assert.deepEqual(plan([]), nothing);
    assert.deepEqual(plan([], { underWay: 12 }), nothing);
    const one = event();
    assert.deepEqual(plan([one], { underWay: 12 }), { ...nothing, waiting: 1, pending: 1 });
    assert.deepEqual(plan([one], { free: 1 }), { ...nothing, start: [one], pending: 1 });
  });

  it('are due in the second of their time; otherwise the nearest time determines the wait', () => {
    const due = event({ nextTime: at(0) });
    assert.deepEqual(plan([due]).start, [due]);
    const { start, again } = plan([event({ nextTime: at(2) }), event({ nextTime: at(5) })]);
    assert.deepEqual([start, again], [[], 2000]);
  });

  it('wait at most for the longest pause and two seconds, because clocks differ', () => {
    const isDue = (seconds: number, retry: object, ms = 0) =>
      plan([event({ nextTime: at(seconds) })], { now: now + ms }, { retry }).start.length === 1;
    assert.equal(isDue(9, { minSeconds: 2, maxSeconds: 5 }), false);
    assert.equal(isDue(10, { minSeconds: 2, maxSeconds: 5 }), true);
    assert.equal(isDue(10, { minSeconds: 7, maxSeconds: 5 }), false);
    assert.equal(isDue(12, { minSeconds: 7, maxSeconds: 5 }), false);
    assert.equal(isDue(13, { minSeconds: 7, maxSeconds: 5 }), true);
    assert.equal(isDue(5403, { minSeconds: 1, maxSeconds: 3600 }), true);
    // The time is one millisecond before the next second.
    assert.equal(isDue(6, { minSeconds: 1, maxSeconds: 2 }, 999), true);
  });

  it('of an event that is replayed for the first time are due at once', () => {
    const again = event({ phase: 'Failed', attempts: 3, nextTime: at(5) }, { replays: 1 } as object);
    assert.deepEqual(plan([again]).start, [again]);
  });

  it('discard the earliest failures, failures without a time first, and within a second the oldest event', () => {
    const dead = (failed: number | undefined, created: number) =>
      event({ phase: 'Failed', ...(failed !== undefined && { failedTime: at(-failed) }) }, { created });
    const [young, old, older, untimed] = [dead(10, 60), dead(30, 60), dead(30, 90), dead(undefined, 5)];
    const all = [young, old, untimed, older];
    assert.deepEqual(plan(all).discard, [untimed, older, old]);
    assert.deepEqual(plan(all, {}, { deadLetters: { limit: 3 } }).discard, [untimed]);
    assert.deepEqual(plan(all, {}, { deadLetters: { limit: 4 } }).discard, []);
    assert.deepEqual(plan(all, {}, { deadLetters: { limit: 5 } }).deadLetters, 4);
  });
});

describe('the request of a delivery', () => {
  it('omits fields that the event or the trigger does not have', () =>
    assert.deepEqual(eventBody(trigger(), event()), {
      ...{ specversion: '1.0', id: 'i', type: 'T', source: '/s', time: 'Z' },
      ...{ datacontenttype: 'application/json', trigger: 't' },
    }));

  it('contains this trigger and the triggers that led to the event', () => {
    assert.deepEqual(chainAfter(trigger(), event()), ['default/t']);
    assert.deepEqual(chainAfter(trigger(), event(undefined, { chain: ['a/b', 'c/d'] } as object)), [
      ...['a/b', 'c/d', 'default/t'],
    ]);
  });
});

describe('attempts', () => {
  it('of an event are counted from 0 after its first replay', () => {
    const again = event({ attempts: 3 }, { replays: 1 } as object);
    assert.equal(isLastAttempt(trigger(), again), false);
    assert.equal(afterFailure(trigger(), again, { error: 'no' }, now, 0).attempts, 1);
    assert.equal(isLastAttempt(trigger(), event({ attempts: 2 })), true);
    assert.equal(isLastAttempt(trigger(), event({ attempts: 1 })), false);
  });

  it('have a delay that is lengthened at random by up to a half', () => {
    const pause = (chance: number) =>
      Date.parse(
        afterFailure(trigger(), event({ attempts: 1 }), { error: 'no' }, now, chance).nextTime ?? '',
      ) - now;
    assert.deepEqual([pause(0), pause(0.5), pause(1)], [4000, 5000, 6000]);
    const { nextTime } = afterFailure(
      trigger({ retry: { maxAttempts: 9, minSeconds: 100, maxSeconds: 100 } }),
      ...([event(), { error: 'no' }, now, 1] as const),
    );
    assert.equal(nextTime, at(150));
  });
});
