/**
 * Times at which a schedule is due, in a time zone. Hours that a clock change skips are skipped, hours that
 * it repeats occur twice, as with upstream's library. Times are milliseconds since the epoch. Pure.
 */
import type { FieldSchedule, Schedule } from './schedule.ts';

type Local = Temporal.ZonedDateTime;

/** Maximum years that are searched for the next time; 29 February occurs every four years. */
const horizon = 5;

const localTime = (ms: number, timeZone: string): Local =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);

/**
 * Returns the first time after `after`; undefined when the schedule is never due. An interval counts from
 * `after`.
 */
export function nextTime(schedule: Schedule, after: number, timeZone: string): number | undefined {
  const second = Math.floor(after / 1000) * 1000;
  if (schedule.type === 'every') return second + schedule.seconds * 1000;
  let time = localTime(second + 1000, timeZone);
  for (const last = time.year + horizon; time.year <= last; ) {
    const unmet = firstUnmet(schedule, time);
    if (!unmet) return time.epochMilliseconds;
    time = startOfNext[unmet](time);
  }
  return undefined;
}

/**
 * Returns the last time that is at or before `now` and after `since`; undefined for none. An interval counts
 * from `anchor`.
 */
export function lastTime(
  schedule: Schedule,
  { anchor, since, now }: { anchor: number; since: number; now: number },
  timeZone: string,
): number | undefined {
  const found =
    schedule.type === 'every'
      ? lastOfInterval(Math.floor(anchor / 1000) * 1000, schedule.seconds * 1000, now)
      : lastMatch(schedule, since, now, timeZone);
  return found !== undefined && found > since ? found : undefined;
}

function lastOfInterval(anchor: number, length: number, now: number): number | undefined {
  const count = Math.floor((now - anchor) / length);
  return count < 1 ? undefined : anchor + count * length;
}

function lastMatch(
  schedule: FieldSchedule,
  since: number,
  now: number,
  timeZone: string,
): number | undefined {
  let time = startOf.minute(localTime(Math.floor(now / 1000) * 1000, timeZone));
  for (const first = time.year - horizon; time.epochMilliseconds > since && time.year >= first; ) {
    const unmet = firstUnmet(schedule, time);
    if (!unmet) return time.epochMilliseconds;
    time = startOf[unmet](time).subtract({ minutes: 1 });
  }
  return undefined;
}

type Part = 'month' | 'day' | 'hour' | 'minute';

/**
 * Returns the greatest part of a time that the schedule does not include. A time with seconds does not match
 * its minute.
 */
function firstUnmet(schedule: FieldSchedule, time: Local): Part | undefined {
  if (!schedule.months.includes(time.month)) return 'month';
  if (!hasDay(schedule, time)) return 'day';
  if (!schedule.hours.includes(time.hour)) return 'hour';
  return schedule.minutes.includes(time.minute) && time.second === 0 ? undefined : 'minute';
}

function hasDay({ daysOfMonth, daysOfWeek, bothDays }: FieldSchedule, { day, dayOfWeek }: Local): boolean {
  const [month, week] = [daysOfMonth.includes(day), daysOfWeek.includes(dayOfWeek % 7)];
  return bothDays ? month && week : month || week;
}

const startOfNext: Readonly<Record<Part, (time: Local) => Local>> = {
  month: (time) => time.toPlainDate().with({ day: 1 }).add({ months: 1 }).toZonedDateTime(time.timeZoneId),
  day: (time) => time.toPlainDate().add({ days: 1 }).toZonedDateTime(time.timeZoneId),
  // Adds elapsed time and not clock time: a clock change may skip or repeat an hour.
  hour: (time) => time.add({ seconds: 3600 - 60 * time.minute - time.second }),
  minute: (time) => time.add({ seconds: 60 - time.second }),
};

const startOf: Readonly<Record<Part, (time: Local) => Local>> = {
  month: (time) => time.toPlainDate().with({ day: 1 }).toZonedDateTime(time.timeZoneId),
  day: (time) => time.startOfDay(),
  hour: (time) => time.with({ minute: 0, second: 0 }),
  minute: (time) => time.subtract({ seconds: time.second }),
};

/** Formats RFC 3339 in the time zone, to the second. */
export function inTimeZone(ms: number, timeZone: string): string {
  const time = localTime(ms, timeZone);
  const text = time.toString({ smallestUnit: 'second', timeZoneName: 'never' });
  return time.offsetNanoseconds === 0 ? text.replace(/\+00:00$/, 'Z') : text;
}
