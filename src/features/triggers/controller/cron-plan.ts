/** Decides when a Trigger with a schedule is due. Pure. */
import { parseSchedule } from '../../../api/batch/v1/schedule.ts';
import { lastTime, nextTime } from '../../../api/batch/v1/schedule-times.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Trigger } from '../api/trigger.ts';
import type { Happening } from '../api/trigger-event-draft.ts';

type Position = NonNullable<NonNullable<Trigger['status']>['position']>;

export interface CronPlan {
  /** Due time to report, in milliseconds; the last one if several were missed. */
  readonly due: number | undefined;
  /** Last due time whose starting deadline has passed. */
  readonly missed: number | undefined;
  /** Milliseconds until the next due time; undefined if there is none. */
  readonly again: number | undefined;
}

/** Plans the schedule, which was validated when it was written. */
export function planCron(
  cron: NonNullable<Trigger['spec']['cron']>,
  position: Position,
  now: number,
): CronPlan {
  const { timeZone = 'UTC', startingDeadlineSeconds = Number.POSITIVE_INFINITY } = cron;
  const schedule = parseSchedule(cron.schedule);
  const anchor = Date.parse(position.lastScheduleTime ?? position.since);
  const latest = lastTime(schedule, { anchor, since: anchor, now }, timeZone);
  const next = nextTime(
    schedule,
    latest ?? (schedule.type === 'every' ? anchor : Math.max(anchor, now)),
    timeZone,
  );
  const again = next === undefined ? undefined : Math.max(0, next - now);
  const isLate = latest !== undefined && latest < now - startingDeadlineSeconds * 1000;
  return { due: isLate ? undefined : latest, missed: isLate ? latest : undefined, again };
}

export function scheduledHappening({ metadata, spec }: Trigger, at: number): Happening {
  const time = rfc3339(at);
  return {
    key: ['cron', time],
    type: 'minik8s.io/cron',
    source: `/namespaces/${metadata.namespace}/triggers/${metadata.name}`,
    time,
    data: { scheduledTime: time, schedule: spec.cron?.schedule },
  };
}
