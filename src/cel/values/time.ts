/** Durations and timestamps, as Go's time package reads and writes them. */
import { Duration, maxInt, minInt, Timestamp } from './value.ts';

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const second = 1_000_000_000n;
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Texts longer than this are no duration: upstream's have at most 32 characters in JSON. */
const maxLength = 256;

/** Reads `1h30m`, `-1.5s`, `0`. Returns undefined for other texts, and beyond 64 bits of nanoseconds. */
export function parseDuration(text: string): Duration | undefined {
  const body = text.replace(/^[+-]/, '');
  const size = body.length > maxLength ? undefined : durationNanos(body);
  if (size === undefined) return undefined;
  const nanos = text.startsWith('-') ? -size : size;
  return nanos > maxInt || nanos < minInt ? undefined : new Duration(nanos);
}

function durationNanos(body: string): bigint | undefined {
  if (body === '0') return 0n;
  let nanos = 0n;
  let at = 0;
  while (at < body.length) {
    part.lastIndex = at;
    const [all, whole = '', fraction = '', unit = ''] = part.exec(body) ?? [];
    if (all === undefined || whole + fraction === '') return undefined;
    const each = unitNanos[unit] ?? 0n;
    nanos += BigInt(whole || '0') * each + (BigInt(fraction || '0') * each) / 10n ** BigInt(fraction.length);
    at += all.length;
  }
  return at === 0 ? undefined : nanos;
}

/** Writes a duration as upstream's `string()`: seconds with a fraction, such as `5400s`. */
export function showDuration({ nanos }: Duration): string {
  const seconds = nanos / second;
  const rest = nanos % second;
  if (rest === 0n) return `${seconds}s`;
  const sign = nanos < 0n && seconds === 0n ? '-' : '';
  return `${sign}${seconds}.${fractionOf(rest < 0n ? -rest : rest)}s`;
}

function fractionOf(nanos: bigint): string {
  return String(nanos).padStart(9, '0').replace(/0+$/, '');
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,20}))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z, in nanoseconds since 1970. */
export const minTimestamp = -62_135_596_800n * second;
export const maxTimestamp = 253_402_300_800n * second - 1n;

/** Reads a time of RFC 3339. Returns undefined for other texts, and for days that do not exist. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const found = rfc3339.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, seconds = 0] = found.slice(1, 7).map(Number);
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, seconds);
  const exists = at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || seconds > 59) return undefined;
  const fraction = BigInt((found[7] ?? '').slice(0, 9).padEnd(9, '0'));
  const zone = BigInt((Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0)) * (found[8] === '-' ? -1 : 1));
  const nanos = BigInt(at.getTime()) * 1_000_000n + fraction - zone * 60n * second;
  return nanos < minTimestamp || nanos > maxTimestamp ? undefined : new Timestamp(nanos);
}

/** Writes a time of RFC 3339 in UTC, with as many digits of the fraction as there are. */
export function showTimestamp({ nanos }: Timestamp): string {
  const rest = ((nanos % second) + second) % second;
  const base = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().slice(0, 19);
  return rest === 0n ? `${base}Z` : `${base}.${fractionOf(rest)}Z`;
}

/** Parts of a time in a zone. `weekday` is 0 on Sundays, `yearDay` 0 on the first of January. */
export interface TimeParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly yearDay: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

const offset = /^([+-]?)(\d{1,2}):(\d{2})$/;

/** Returns undefined when the zone is neither an offset like `-02:30` nor a name of the IANA database. */
export function partsOf({ nanos }: Timestamp, zone: string): TimeParts | undefined {
  const millis = Number((nanos - (((nanos % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  const shifted = offset.exec(zone);
  const minutes = shifted
    ? (Number(shifted[2]) * 60 + Number(shifted[3])) * (shifted[1] === '-' ? -1 : 1)
    : offsetOf(zone, millis);
  return minutes === undefined ? undefined : utcParts(new Date(millis + minutes * 60_000));
}

function utcParts(at: Date): TimeParts {
  const year = at.getUTCFullYear();
  const start = new Date(0);
  start.setUTCFullYear(year, 0, 1);
  return {
    year,
    month: at.getUTCMonth(),
    day: at.getUTCDate(),
    weekday: at.getUTCDay(),
    yearDay: Math.floor((at.getTime() - start.getTime()) / 86_400_000),
    hours: at.getUTCHours(),
    minutes: at.getUTCMinutes(),
    seconds: at.getUTCSeconds(),
    milliseconds: at.getUTCMilliseconds(),
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 100;

function offsetOf(zone: string, millis: number): number | undefined {
  if (zone === '' || zone === 'UTC') return 0;
  const format = formatOf(zone);
  if (format === undefined) return undefined;
  const name = format.formatToParts(millis).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds] = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(name) ?? [];
  if (sign === undefined) return 0;
  const size = Number(hours) * 60 + Number(minutes) + Number(seconds ?? 0) / 60;
  return sign === '-' ? -size : size;
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known || zone.length > 64) return known;
  try {
    const made = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    if (formats.size >= maxFormats) formats.clear();
    formats.set(zone, made);
    return made;
  } catch {
    return undefined;
  }
}
