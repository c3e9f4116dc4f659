/** Times of schedules, also where clocks change. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSchedule } from '../../../../../src/api/batch/v1/schedule.ts';
import { inTimeZone, lastTime, nextTime } from '../../../../../src/api/batch/v1/schedule-times.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

const iso = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 19);
const cases: [what: string, line: string, zone: string, after: string, next: string | undefined][] = [
  ['the next minute', '* * * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00'],
  ['which is never the given moment', '0 0 * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00'],
  ['a moment later', '0 0 * * *', 'UTC', '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00'],
  ['in another year', '30 5 1 1 *', 'UTC', '2026-01-01T05:30:00Z', '2027-01-01T05:30:00'],
  ['29 February', '0 12 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T12:00:00'],
  ['31 February', '59 23 31 2 *', 'UTC', '2026-01-01T00:00:00Z', undefined],
  ['a day of the month or a weekday', '0 0 13 * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00'],
  ['any day of the month, on Fridays', '0 0 * * 5', 'UTC', '2026-01-02T00:00:00Z', '2026-01-09T00:00:00'],
  ['Sunday', '0 0 * * 0', 'UTC', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00'],
  [
    'an interval counted from the given time',
    '@every 90m',
    'UTC',
    '2026-01-01T00:00:07.5Z',
    '2026-01-01T01:30:07',
  ],
  ['in another time zone', '0 0 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T18:30:00'],
  [
    'an hour skipped by a clock change',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00:00Z',
    '2026-03-30T00:30:00',
  ],
  [
    'after an hour skipped by a clock change',
    '0 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:00:00Z',
    '2026-03-29T01:00:00',
  ],
  [
    'an hour repeated by a clock change',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00:00Z',
    '2026-10-25T00:30:00',
  ],
  [
    'the repetition of that hour',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00',
  ],
  [
    'half an hour skipped by a clock change',
    '0 3 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T15:00:00Z',
    '2026-10-03T16:00:00',
  ],
  [
    'a midnight skipped by a clock change',
    '0 0 * * *',
    'America/Sao_Paulo',
    '2018-11-03T12:00:00Z',
    '2018-11-05T02:00:00',
  ],
  [
    'a day skipped by a change of the time zone',
    '0 0 * * *',
    'Pacific/Apia',
    '2011-12-29T10:00:01Z',
    '2011-12-30T10:00:00',
  ],
];

describe('the next time of a schedule', () => {
  for (const [what, line, zone, after, next] of cases)
    it(`${what}: ${line} in ${zone}`, () => {
      assert.equal(iso(nextTime(parseSchedule(line), Date.parse(after), zone)), next);
    });
});

describe('the last time of a schedule', () => {
  it('is the time before the next one, in any zone and year', () => {
    const random = new SeededRandom(5);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)] as T;
    for (let count = 0; count < 400; count++) {
      const [, line, zone] = pick(cases.filter(([, text, , , next]) => next && !text.startsWith('@')));
      const schedule = parseSchedule(line);
      const after = Date.UTC(2011, 0, 1) + Math.floor(random.next() * 16 * 365 * 86_400) * 1000;
      const due = nextTime(schedule, after, zone) ?? 0;
      const following = nextTime(schedule, due, zone) ?? 0;
      const now = due + Math.floor(random.next() * (following - due));
      const last = (at: number) => lastTime(schedule, { anchor: 0, since: after, now: at }, zone);
      assert.equal(iso(last(now)), iso(due), `${line} ${zone} ${iso(now)}`);
      assert.equal(last(due - 1), undefined);
    }
  });

  it('is counted from the anchor of an interval', () => {
    const last = (now: number) =>
      lastTime(parseSchedule('@every 1h'), { anchor: 7_000, since: 7_000, now }, 'UTC');
    assert.equal(last(3_606_999), undefined);
    assert.equal(last(3_607_000), 3_607_000);
    assert.equal(last(3 * 3_600_000), 2 * 3_600_000 + 7_000);
  });

  it('is absent before the first time', () => {
    const at = Date.parse('2026-01-01T00:00:00Z');
    assert.equal(
      lastTime(parseSchedule('0 0 * * *'), { anchor: at, since: at, now: at + 1000 }, 'UTC'),
      undefined,
    );
    assert.equal(lastTime(parseSchedule('0 0 31 2 *'), { anchor: 0, since: 0, now: at }, 'UTC'), undefined);
  });
});

describe('a time in its zone', () => {
  for (const [zone, text] of [
    ['UTC', '2026-07-01T00:00:00Z'],
    ['Europe/London', '2026-07-01T01:00:00+01:00'],
    ['America/New_York', '2026-06-30T20:00:00-04:00'],
  ] as const)
    it(`${zone}: ${text}`, () => {
      assert.equal(inTimeZone(Date.UTC(2026, 6, 1), zone), text);
    });
});
