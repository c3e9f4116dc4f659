/** Functions of timestamps and durations. */
import type { Run } from '../evaluation/run.ts';
import { partsOf, type TimeParts } from '../values/time.ts';
import { Duration, Fault, noSuchOverload, Timestamp, type Value } from '../values/value.ts';
import type { Declaration } from './overload.ts';

const parts: Readonly<Record<string, (time: TimeParts) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month,
  getDayOfYear: ({ yearDay }) => yearDay,
  getDate: ({ day }) => day,
  getDayOfMonth: ({ day }) => day - 1,
  getDayOfWeek: ({ weekday }) => weekday,
  getHours: ({ hours }) => hours,
  getMinutes: ({ minutes }) => minutes,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

const units: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / 3_600_000_000_000n,
  getMinutes: (nanos) => nanos / 60_000_000_000n,
  getSeconds: (nanos) => nanos / 1_000_000_000n,
  getMilliseconds: (nanos) => nanos / 1_000_000n,
};

function part(read: (time: TimeParts) => number): Declaration[1] {
  return ([time, zone = 'UTC']: readonly Value[], run: Run) => {
    if (!(time instanceof Timestamp) || typeof zone !== 'string') return noSuchOverload;
    // The time of a zone is looked up in tables.
    run.work(zone === 'UTC' ? 2 : 64);
    const found = partsOf(time, zone);
    return found === undefined ? new Fault(`unknown time zone ${zone}`) : BigInt(read(found));
  };
}

export const times: readonly Declaration[] = [
  ...Object.entries(parts).flatMap(([name, read]): Declaration[] => [
    [`timestamp.${name}(): int`, part(read)],
    [`timestamp.${name}(string): int`, part(read)],
  ]),
  ...Object.entries(units).map(
    ([name, read]): Declaration => [
      `duration.${name}(): int`,
      ([duration]) => (duration instanceof Duration ? read(duration.nanos) : noSuchOverload),
    ],
  ),
];
