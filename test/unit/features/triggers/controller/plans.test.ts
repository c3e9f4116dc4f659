import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../../src/apimachinery/resource-definition.ts';
import { rfc3339 } from '../../../../../src/base/time.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { planCron, scheduledHappening } from '../../../../../src/features/triggers/controller/cron-plan.ts';
import {
  afterFailure,
  eventBody,
  maxAtOnce,
  planDeliveries,
  whyNotTried,
} from '../../../../../src/features/triggers/controller/delivery-plan.ts';
import {
  changedSince,
  namespaceOf,
  reportedChange,
} from '../../../../../src/features/triggers/controller/object-plan.ts';
import {
  noCounts,
  planStatus,
  positionOf,
} from '../../../../../src/features/triggers/controller/status-plan.ts';

const now = Date.parse('2026-03-01T12:00:30Z');
const trigger = (spec: object = {}, status?: Trigger['status']) =>
  ({
    metadata: {
      name: 't',
      namespace: 'default',
      uid: 'u',
      generation: 2,
      resourceVersion: '70',
      creationTimestamp: '2026-03-01T11:00:00Z',
    },
    spec: {
      target: { kind: 'Function', name: 'f' },
      retry: { maxAttempts: 3, minSeconds: 2, maxSeconds: 5 },
      deadLetters: { limit: 2 },
      ...spec,
    },
    ...(status && { status }),
  }) as unknown as Trigger;

describe('a schedule', () => {
  const at = (text: string) => `2026-03-01T${text}Z`;
  const plan = (cron: object, position: object = {}) =>
    planCron({ schedule: '*/10 * * * *', ...cron }, { of: 'x', since: at('11:55:00'), ...position }, now);
  it('reports the last of the times since its creation', () => {
    assert.deepEqual(plan({}), { due: Date.parse(at('12:00:00')), missed: undefined, again: 570_000 });
    assert.equal(plan({}, { since: at('09:00:00') }).due, Date.parse(at('12:00:00')));
  });
  it('reports no time twice', () =>
    assert.deepEqual(plan({}, { lastScheduleTime: at('12:00:00') }), {
      due: undefined,
      missed: undefined,
      again: 570_000,
    }));
  it('reports no time after its deadline', () => {
    const { due, missed } = plan({ startingDeadlineSeconds: 29 });
    assert.deepEqual([due, missed], [undefined, Date.parse(at('12:00:00'))]);
    assert.equal(plan({ startingDeadlineSeconds: 30 }).due, Date.parse(at('12:00:00')));
  });
  it('with an interval is counted from its creation', () => {
    const { due, again } = plan({ schedule: '@every 4m' });
    assert.deepEqual([due, again], [Date.parse(at('11:59:00')), 150_000]);
  });
  it('has a time zone', () => {
    const { due } = plan({ schedule: '0 13 * * *', timeZone: 'Europe/Berlin' });
    assert.equal(due, Date.parse(at('12:00:00')));
  });
  it('has no next time if it is never due', () => {
    const { due, missed, again } = plan({ schedule: '0 0 31 2 *' });
    assert.deepEqual([due, missed, again], [undefined, undefined, undefined]);
  });
  it('has one key for each time', () =>
    assert.deepEqual(
      scheduledHappening(trigger({ cron: { schedule: 'x' } }), Date.parse(at('12:00:00'))).key,
      ['cron', at('12:00:00')],
    ));
});

describe('objects', () => {
  const source = { apiVersion: 'v1', kind: 'ConfigMap', types: ['Created' as const, 'Updated' as const] };
  const object = (name: string, resourceVersion: string, creationTimestamp: string) =>
    ({ metadata: { name, namespace: 'a', uid: name, resourceVersion, creationTimestamp } }) as KubeObject;
  const one = object('one', '9', '2026-03-01T12:00:00Z');
  it('are selected by the names of their changes', () => {
    const { type, key, time } = reportedChange(source, 'configmaps', 'MODIFIED', one, 'T') ?? assert.fail();
    assert.deepEqual(
      [type, key, time],
      ['minik8s.io/object.updated', ['object', 'one', 'Updated', '9'], 'T'],
    );
  });
  it("are not selected by other namespaces' triggers", () =>
    assert.equal(reportedChange(source, 'configmaps', 'DELETED', one, 'T'), undefined));
  it('with a lost history are reported in their current state, in the order of their changes', () => {
    const since = Date.parse('2026-03-01T11:59:00.700Z');
    const all = [
      object('young', '100', '2026-03-01T11:59:00Z'),
      object('changed', '20', '2026-03-01T11:00:00Z'),
      object('known', '10', '2026-03-01T11:00:00Z'),
    ];
    const told = changedSince(source, 'configmaps', all, { from: '10', since, time: 'T' });
    assert.deepEqual(
      told.map(({ resourceVersion, happening }) => [resourceVersion, happening?.type]),
      [
        ['20', 'minik8s.io/object.updated'],
        ['100', 'minik8s.io/object.created'],
      ],
    );
  });
  for (const [namespace, namespaced, wanted] of [
    [undefined, true, 'own'],
    ['other', true, 'other'],
    ['*', true, ''],
    ['other', false, ''],
  ] as const)
    it(`of the namespace ${namespace} of a kind ${namespaced ? 'with' : 'without'} namespaces are in "${wanted}"`, () =>
      assert.equal(
        namespaceOf({ ...source, namespace } as never, 'own', { namespaced } as ResourceDefinition),
        wanted,
      ));
});

let made = 0;
const event = (status?: TriggerEvent['status'], spec: object = {}, created = now - 60_000 + made) => {
  made += 1;
  return {
    metadata: {
      name: `e${made}`,
      namespace: 'default',
      uid: `e${made}`,
      resourceVersion: String(made),
      creationTimestamp: rfc3339(created),
    },
    spec: { trigger: 't', id: `i${made}`, type: 'T', source: '/s', time: 'Z', depth: 0, replays: 0, ...spec },
    status,
  } as TriggerEvent;
};

describe('deliveries', () => {
  const plan = (events: readonly TriggerEvent[], facts: object = {}, spec: object = {}) =>
    planDeliveries(trigger(spec), events, { now, underWay: 0, free: 100, isBusy: () => false, ...facts });
  it('begin with the oldest events, at most ten at once', () => {
    const events = Array.from({ length: maxAtOnce + 5 }, () => event());
    const { start, waiting, pending } = plan(events.toReversed());
    assert.deepEqual(start, events.slice(0, maxAtOnce));
    assert.deepEqual([waiting, pending], [5, maxAtOnce + 5]);
    assert.equal(plan(events, { underWay: maxAtOnce - 1 }).start.length, 1);
    assert.equal(plan(events, { free: 0 }).start.length, 0);
  });
  it('leave out events in progress', () => {
    const [one, two] = [event(), event()];
    assert.deepEqual(plan([one, two], { isBusy: (e: TriggerEvent) => e === one }).start, [two]);
  });
  it('wait for the time of the next attempt', () => {
    const { start, again } = plan([
      event({ nextTime: rfc3339(now + 5000) }),
      event({ nextTime: rfc3339(now + 2000) }),
    ]);
    assert.deepEqual([start.length, again], [0, 2000]);
  });
  it('do not wait longer than the maximum pause after a clock was set back', () => {
    const far = event({ nextTime: rfc3339(now + 3_600_000) });
    const { start, again } = plan([far, event({ nextTime: rfc3339(now + 7000) })]);
    assert.deepEqual([start, again], [[far], 7000]);
  });
  it('leave out dead letters, except those that are retried', () => {
    const again = event({ phase: 'Failed', replays: 1, nextTime: rfc3339(now + 9000) }, { replays: 2 });
    const { start, deadLetters } = plan([event({ phase: 'Failed', replays: 1 }, { replays: 1 }), again]);
    assert.deepEqual([start, deadLetters], [[again], 1]);
  });
  it('discard the dead letters that failed first', () => {
    const dead = [30, 10, 20].map((seconds) =>
      event({ phase: 'Failed', failedTime: rfc3339(now - seconds * 1000) }),
    );
    const { discard, deadLetters } = plan(dead);
    assert.deepEqual([discard, deadLetters], [[dead[0]], 2]);
  });
  it('discard no event whose retry the cache does not show yet', () => {
    const dead = event({ phase: 'Failed', failedTime: rfc3339(now) });
    const facts = { isBusy: (one: TriggerEvent) => one === dead };
    const { discard, deadLetters } = plan([dead], facts, { deadLetters: { limit: 0 } });
    assert.deepEqual([discard, deadLetters], [[], 0]);
  });
  it('pause while the trigger is suspended', () => {
    const { start, pending, again } = plan([event()], {}, { suspend: true });
    assert.deepEqual([start.length, pending, again], [0, 1, undefined]);
  });
  it('end a chain of more than sixteen', () => {
    assert.equal(whyNotTried(event(undefined, { depth: 16 })), undefined);
    assert.match(whyNotTried(event(undefined, { depth: 17 })) ?? '', /more than 16/);
  });
  it('send a CloudEvent', () => {
    const body = eventBody(trigger({ input: 0 }), event(undefined, { id: 'i', subject: 's', data: null }));
    assert.deepEqual(body, {
      specversion: '1.0',
      id: 'i',
      type: 'T',
      source: '/s',
      subject: 's',
      time: 'Z',
      datacontenttype: 'application/json',
      trigger: 't',
      data: null,
      input: 0,
    });
  });
});

describe('a failed attempt', () => {
  const failed = (status: TriggerEvent['status'], failure: object = {}, spec: object = {}, chance = 0) =>
    afterFailure(trigger(), event(status, spec), { error: 'no', ...failure }, now, chance);
  it('is followed by another, after a pause that doubles up to the maximum', () => {
    const pause = (attempts: number, chance = 0) => {
      const { nextTime } = afterFailure(
        trigger({ retry: { maxAttempts: 9, minSeconds: 2, maxSeconds: 5 } }),
        event({ attempts }),
        { error: 'no' },
        now,
        chance,
      );
      return Date.parse(nextTime ?? '') - now;
    };
    assert.deepEqual(
      [0, 1, 2, 3].map((attempts) => pause(attempts)),
      [2000, 4000, 5000, 5000],
    );
    assert.equal(pause(1, 1), 6000);
  });
  it('has a message about the failure', () => {
    const { phase, attempts, lastError, lastStatus } = failed(undefined, {
      status: 500,
      error: 'x'.repeat(5000),
    });
    assert.deepEqual([phase, attempts, lastError?.length, lastStatus], ['Pending', 1, 1024, 500]);
  });
  it('is the last after maxAttempts attempts', () => {
    assert.equal(failed({ attempts: 1 }).phase, 'Pending');
    assert.deepEqual(failed({ attempts: 2 }), {
      phase: 'Failed',
      attempts: 3,
      replays: 0,
      lastError: 'no',
      failedTime: rfc3339(now),
    });
  });
  it('is the last if another cannot succeed', () =>
    assert.equal(failed(undefined, { isFinal: true }).phase, 'Failed'));
  it('of a replayed event are counted from 1', () => {
    const { phase, attempts, replays } = failed({ attempts: 3, replays: 0 }, {}, { replays: 1 });
    assert.deepEqual([phase, attempts, replays], ['Pending', 1, 1]);
  });
});

describe('the status', () => {
  const timestamp = rfc3339(now);
  const position = { of: 'a', since: timestamp };
  const facts = {
    counts: noCounts(),
    pending: 0,
    deadLetters: 0,
    position,
    problem: undefined,
    waits: false,
    missed: undefined,
    timestamp,
  };
  it('adds up the counts', () => {
    const before = trigger({}, { delivered: 2, failed: 1, discarded: 0, lastTime: 'before' });
    const counts = { delivered: 3, failed: 0, discarded: 1, lastTime: 'then' };
    const { delivered, failed, discarded, lastTime, observedGeneration } = planStatus(before, {
      ...facts,
      counts,
    });
    assert.deepEqual([delivered, failed, discarded, lastTime, observedGeneration], [5, 1, 1, 'then', 2]);
  });
  it('reports why no event is delivered', () => {
    const problem = { reason: 'TargetMissing', message: 'there is none' };
    const [ready] = planStatus(trigger(), { ...facts, problem }).conditions ?? [];
    assert.deepEqual(ready, { type: 'Ready', status: 'False', ...problem, lastTransitionTime: timestamp });
  });
  it('is the same when nothing has changed', () => {
    const first = planStatus(trigger(), facts);
    assert.deepEqual(planStatus(trigger({}, first), { ...facts, timestamp: 'later' }), first);
  });
  it('reports waiting events only while events wait', () => {
    const waiting = planStatus(trigger(), { ...facts, waits: true });
    assert.deepEqual(
      waiting.conditions?.map(({ type }) => type),
      ['Ready', 'Backlogged'],
    );
    assert.deepEqual(
      planStatus(trigger({}, waiting), facts).conditions?.map(({ type }) => type),
      ['Ready'],
    );
  });
  it('reports missed events until the source changes', () => {
    const missed = planStatus(trigger(), { ...facts, missed: 'some' });
    const after = planStatus(trigger({}, missed), facts);
    assert.equal(after.conditions?.find(({ type }) => type === 'EventsMissed')?.message, 'some');
    const other = planStatus(trigger({}, missed), { ...facts, position: { ...position, of: 'b' } });
    assert.deepEqual(
      other.conditions?.map(({ type }) => type),
      ['Ready'],
    );
  });
});

describe('the position of a source', () => {
  const timestamp = rfc3339(now);
  const object = { apiVersion: 'v1', kind: 'Pod' };
  it('of a new trigger is its creation', () => {
    const created = '2026-03-01T11:00:00Z';
    assert.deepEqual(positionOf(trigger({ object }), 'a', timestamp), {
      of: 'a',
      since: created,
      resourceVersion: '70',
      resourceTime: created,
    });
    assert.deepEqual(positionOf(trigger(), 'a', timestamp), { of: 'a', since: created });
  });
  it('is the written one', () => {
    const position = { of: 'a', since: 'x', resourceVersion: '80' };
    assert.equal(
      positionOf(trigger({ object }, { observedGeneration: 1, position }), 'a', timestamp),
      position,
    );
  });
  it('of another source, or after a pause, is the current time', () => {
    for (const position of [{ of: 'b', since: 'x', resourceVersion: '50' }, undefined]) {
      const status = { observedGeneration: 1, ...(position && { position }) };
      const found = positionOf(trigger({ object }, status), 'a', timestamp);
      assert.deepEqual(found, { of: 'a', since: timestamp, resourceVersion: '70', resourceTime: timestamp });
    }
  });
  it('of a suspended trigger is undefined', () =>
    assert.equal(positionOf(trigger({ suspend: true }), 'a', timestamp), undefined));
});
