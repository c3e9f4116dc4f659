/**
 * The schedule of a CronJob: five fields, `minute hour day-of-month month day-of-week`, or a descriptor such
 * as `@hourly` or `@every 1h30m` (the standard parser of github.com/robfig/cron, whose messages clients see).
 * docs/decisions/0032-schedules.md has the reasons for not using a library.
 */

export type Schedule = FieldSchedule | { readonly type: 'every'; readonly seconds: number };

/**
 * A time matches when each of its parts is listed. Values are ascending; days of the week count from Sunday,
 * 0.
 */
export interface FieldSchedule {
  readonly type: 'fields';
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
  /**
   * If true, both the day of the month and the day of the week must match, since one of them is any day
   * (`*`). Otherwise one of them suffices.
   */
  readonly bothDays: boolean;
}

/** Thrown for an invalid schedule; the message describes the problem. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

interface Bounds {
  readonly least: number;
  readonly greatest: number;
  /** Names of the values, in order from the least value. */
  readonly names?: readonly string[];
}

const bounds = {
  minutes: { least: 0, greatest: 59 },
  hours: { least: 0, greatest: 23 },
  daysOfMonth: { least: 1, greatest: 31 },
  months: {
    least: 1,
    greatest: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  daysOfWeek: { least: 0, greatest: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
} as const satisfies Readonly<Record<string, Bounds>>;

const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/**
 * Parses a schedule; throws ScheduleError. A time zone in the text is not supported: a CronJob has a field
 * for it.
 */
export function parseSchedule(text: string): Schedule {
  if (text.startsWith('@every ')) return { type: 'every', seconds: parseEvery(text) };
  if (text.startsWith('@')) {
    const meant = descriptors.get(text);
    if (meant === undefined) throw new ScheduleError(`unrecognized descriptor: ${text}`);
    return parseFields(meant);
  }
  return parseFields(text);
}

function parseFields(text: string): FieldSchedule {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5)
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  const [minutes, hours, days] = [
    parseField(minute, bounds.minutes),
    parseField(hour, bounds.hours),
    parseField(dayOfMonth, bounds.daysOfMonth),
  ];
  const [months, weekdays] = [parseField(month, bounds.months), parseField(dayOfWeek, bounds.daysOfWeek)];
  return {
    type: 'fields',
    minutes: minutes.values,
    hours: hours.values,
    daysOfMonth: days.values,
    months: months.values,
    daysOfWeek: weekdays.values,
    bothDays: days.any || weekdays.any,
  };
}

interface Values {
  readonly values: readonly number[];
  readonly any: boolean;
}

/** Parses ranges separated by commas; empty ranges are ignored. */
function parseField(field: string, of: Bounds): Values {
  const found = new Set<number>();
  let any = false;
  for (const range of field.split(',')) {
    if (range === '') continue;
    const { start, end, step, isAny } = parseRange(range, of);
    for (let value = start; value <= end; value += step) found.add(value);
    any ||= isAny;
  }
  return { values: [...found].sort((a, b) => a - b), any };
}

/** Parses `*`, `?`, `a` or `a-b`, each with an optional `/step`; `a/step` ends at the greatest value. */
function parseRange(text: string, of: Bounds) {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreEnds] = range.split('-');
  const isStar = low === '*' || low === '?';
  if (!isStar && moreEnds.length > 0) throw new ScheduleError(`too many hyphens: ${text}`);
  const [start, last] = isStar ? [of.least, of.greatest] : parseEnds(low, high, of);
  if (moreSteps.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  const end = stepText !== undefined && high === undefined ? of.greatest : last;
  requireRange({ start, end, step }, of, text);
  return { start, end, step, isAny: isStar && step === 1 };
}

/** Parses `a` or `a-b`; `a` begins and ends the range. */
function parseEnds(low: string, high: string | undefined, of: Bounds): readonly [number, number] {
  const start = parseValue(low, of);
  return [start, high === undefined ? start : parseValue(high, of)];
}

/** Throws a ScheduleError if a range leaves the bounds of its field, is reversed or makes no steps. */
function requireRange(
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
  of: Bounds,
  text: string,
): void {
  if (start < of.least)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${of.least}): ${text}`);
  if (end > of.greatest)
    throw new ScheduleError(`end of range (${end}) above maximum (${of.greatest}): ${text}`);
  if (start > end)
    throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

function parseValue(text: string, { least, names }: Bounds): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index < 0 ? parseNumber(text) : least + index;
}

/** Parses a number as Go's strconv.Atoi; a number with more digits is out of every range. */
function parseNumber(text: string): number {
  if (!/^[+-]?\d{1,18}$/.test(text))
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  const value = Number(text);
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
const duration = /^[+-]?(?:\d{1,18}(?:\.\d{0,18})?(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** Parses Go's durations, such as `1h30m`; returns whole seconds, at least one. */
function parseEvery(text: string): number {
  const length = text.slice('@every '.length);
  if (length.length > 100 || !duration.test(length))
    throw new ScheduleError(
      `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(length)}`,
    );
  let seconds = 0;
  for (const [, amount = '', unit = ''] of length.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g))
    seconds += Number(amount) * (units[unit] ?? 0);
  return Math.max(1, length.startsWith('-') ? 1 : Math.floor(seconds));
}
