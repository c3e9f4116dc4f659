/** The complete status of a trigger, and the times of a schedule. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import { planCron, scheduledHappening } from '../../../../../src/features/triggers/controller/cron-plan.ts';
import { noCounts, planStatus } from '../../../../../src/features/triggers/controller/status-plan.ts';

const timestamp = '2026-03-01T12:00:30Z';
const now = Date.parse(timestamp);
const trigger = (status?: object, metadata: object = { generation: 2 }) =>
  ({ metadata: { name: 't', namespace: 'ns', ...metadata }, spec: {}, status }) as unknown as Trigger;
const facts = {
  ...{ counts: noCounts(), pending: 3, deadLetters: 4, position: undefined, problem: undefined },
  ...{ waits: false, missed: undefined, timestamp },
};
const ready = {
  ...{ type: 'Ready', status: 'True', reason: 'Active', lastTransitionTime: timestamp },
  message: 'events are recorded and delivered',
};

describe('the status', () => {
  it('of a new trigger has counts of zero and no unknown values', () => {
    assert.deepEqual(planStatus(trigger(undefined, {}), facts), {
      ...{ delivered: 0, failed: 0, discarded: 0, pending: 3, deadLetters: 4, conditions: [ready] },
    });
    const counts = { delivered: 1, failed: 2, discarded: 3 };
    const { delivered, failed, discarded } = planStatus(trigger(), { ...facts, counts });
    assert.deepEqual([delivered, failed, discarded], [1, 2, 3]);
  });

  it('adds to the earlier counts, and keeps the last time and the position', () => {
    const position = { of: 'a', since: timestamp };
    const before = { delivered: 5, failed: 6, discarded: 7, lastTime: 'before' };
    assert.deepEqual(
      planStatus(trigger(before), { ...facts, position, counts: { delivered: 1, failed: 2, discarded: 3 } }),
      {
        ...{ observedGeneration: 2, delivered: 6, failed: 8, discarded: 10, pending: 3, deadLetters: 4 },
        ...{ lastTime: 'before', position, conditions: [ready] },
      },
    );
  });

  it('has the watched nodes, the waiting events and the missed times', () => {
    const { conditions } = planStatus(trigger(), {
      ...facts,
      detail: 'watched on n1',
      waits: true,
      missed: 'm',
    });
    assert.deepEqual(conditions, [
      { ...ready, message: 'events are recorded and delivered; watched on n1' },
      {
        ...{ type: 'Backlogged', status: 'True', reason: 'TooManyPending', lastTransitionTime: timestamp },
        message: '1000 events wait to be delivered; more are recorded when there is room',
      },
      {
        ...{ type: 'EventsMissed', status: 'True', reason: 'HistoryTooOld', lastTransitionTime: timestamp },
        message: 'm',
      },
    ]);
  });

  it('of a suspended trigger omits the missed times', () => {
    const missed = { ...ready, type: 'EventsMissed', message: 'm' };
    const before = trigger({ conditions: [missed], position: { of: 'a', since: timestamp } });
    assert.deepEqual(
      planStatus(before, facts).conditions?.map(({ type }) => type),
      ['Ready'],
    );
  });
});

describe('a schedule', () => {
  const at = (text: string) => Date.parse(`2026-03-01T${text}Z`);
  const plan = (cron: { schedule: string; startingDeadlineSeconds?: number }, since: string, when = now) =>
    planCron(cron, { of: 'x', since: `2026-03-01T${since}Z` }, when);

  it('with an interval is due first after that interval', () =>
    assert.deepEqual(plan({ schedule: '@every 4m' }, '11:59:30'), {
      ...{ due: undefined, missed: undefined, again: 180_000 },
    }));

  it('is not due before its creation if the clock was set back', () =>
    assert.deepEqual(plan({ schedule: '*/10 * * * *' }, '13:00:00'), {
      ...{ due: undefined, missed: undefined, again: at('13:10:00') - now },
    }));

  it('is late from the first millisecond after its deadline', () => {
    const late = (ms: number) =>
      plan({ schedule: '*/10 * * * *', startingDeadlineSeconds: 30 }, '11:55:00', at('12:00:30') + ms).missed;
    assert.deepEqual([late(0), late(1)], [undefined, at('12:00:00')]);
  });

  it('is reported with its time and its text', () =>
    assert.deepEqual(
      scheduledHappening(
        { ...trigger(), spec: { cron: { schedule: '@hourly' } } } as unknown as Trigger,
        now,
      ),
      {
        ...{ key: ['cron', timestamp], type: 'minik8s.io/cron', source: '/namespaces/ns/triggers/t' },
        ...{ time: timestamp, data: { scheduledTime: timestamp, schedule: '@hourly' } },
      },
    ));
});
