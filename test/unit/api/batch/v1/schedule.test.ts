import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FieldSchedule,
  parseSchedule,
  ScheduleError,
} from '../../../../../src/api/batch/v1/schedule.ts';

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
const always = {
  type: 'fields',
  minutes: range(0, 59),
  hours: range(0, 23),
  daysOfMonth: range(1, 31),
  months: range(1, 12),
  daysOfWeek: range(0, 6),
  bothDays: true,
};

const read: [text: string, expected: Partial<FieldSchedule>][] = [
  ['* * * * *', {}],
  ['? ? ? ? ?', {}],
  ['  5\t*  * * *  ', { minutes: [5] }],
  ['0-10/5,30,31-32 * * * *', { minutes: [0, 5, 10, 30, 31, 32] }],
  ['50/5 */8 * * *', { minutes: [50, 55], hours: [0, 8, 16] }],
  [
    '59,0,0 23 31 12 6',
    { minutes: [0, 59], hours: [23], daysOfMonth: [31], months: [12], daysOfWeek: [6], bothDays: false },
  ],
  ['*/100 * * * *', { minutes: [0] }],
  ['*-7/20 * * * *', { minutes: range(0, 59, 20) }],
  ['* * * jan-MAR Mon,fri', { months: [1, 2, 3], daysOfWeek: [1, 5] }],
  [', +5 * * *', { minutes: [], hours: [5] }],
  ['1,,2 * * * *', { minutes: [1, 2] }],
  ['@hourly', { minutes: [0] }],
  ['@daily', { minutes: [0], hours: [0] }],
  ['@midnight', { minutes: [0], hours: [0] }],
  ['@weekly', { minutes: [0], hours: [0], daysOfWeek: [0] }],
  ['@monthly', { minutes: [0], hours: [0], daysOfMonth: [1] }],
  ['@yearly', { minutes: [0], hours: [0], daysOfMonth: [1], months: [1] }],
  ['@annually', { minutes: [0], hours: [0], daysOfMonth: [1], months: [1] }],
];
for (const [text, expected] of read)
  test(`the schedule ${text} is parsed`, () =>
    assert.deepEqual(parseSchedule(text), { ...always, ...expected }));

test('a restricted day of the month and a restricted weekday are alternatives', () => {
  const both = (text: string) => (parseSchedule(text) as FieldSchedule).bothDays;
  assert.equal(both('0 0 1 * 1'), false);
  assert.equal(both('0 0 * * 1'), true);
  assert.equal(both('0 0 1 * ?'), true);
  assert.equal(both('0 0 1,* * 1'), true);
  // `*/2` restricts the days; `*/1` does not.
  assert.equal(both('0 0 */2 * 1'), false);
  assert.equal(both('0 0 */1 * 1'), true);
  assert.equal(both('0 0 1-31 * 1'), false);
});

for (const [text, seconds] of [
  ['@every 1h30m', 5400],
  ['@every 90s', 90],
  ['@every 1.5h', 5400],
  ['@every 2500ms', 2],
  ['@every 100ms', 1],
  ['@every -5m', 1],
  ['@every 1000000µs1s', 2],
] as const)
  test(`the schedule ${text} is parsed`, () =>
    assert.deepEqual(parseSchedule(text), { type: 'every', seconds }));

const refused: [text: string, message: string][] = [
  ['', 'expected exactly 5 fields, found 0: []'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['0 * * * * *', 'expected exactly 5 fields, found 6: [0 * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* 24 * * *', 'end of range (24) above maximum (23): 24'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['1/ * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['* * L * *', 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
  ['* * * * MON#1', 'failed to parse int from MON#1: strconv.Atoi: parsing "MON#1": invalid syntax'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['1/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['@noon', 'unrecognized descriptor: @noon'],
  ['@every', 'unrecognized descriptor: @every'],
  ['@every 5', 'failed to parse duration @every 5: time: invalid duration "5"'],
  ['@every .5.s', 'failed to parse duration @every .5.s: time: invalid duration ".5.s"'],
];
for (const [text, message] of refused)
  test(`the schedule ${text || ''} is rejected`, () => {
    assert.throws(
      () => parseSchedule(text),
      (error) => error instanceof ScheduleError && error.message === message,
    );
  });

test('a long schedule is parsed quickly', () => {
  assert.equal(parseSchedule(`${'0-59,'.repeat(50_000)} * * * *`).type, 'fields');
  assert.throws(() => parseSchedule(`@every ${'1h'.repeat(50_000)}x`), ScheduleError);
  assert.throws(() => parseSchedule(`${'9'.repeat(100_000)} * * * *`), ScheduleError);
});
