/**
 * Plans the Jobs of a CronJob from its existing Jobs and the time (k8s.io/kubernetes pkg/controller/cronjob).
 * Pure.
 */
import type { CronJob } from '../../../api/batch/v1/cron-job.ts';
import type { Job } from '../../../api/batch/v1/job.ts';
import { finishedCondition } from '../../../api/batch/v1/job-conditions.ts';
import { parseSchedule, type Schedule, ScheduleError } from '../../../api/batch/v1/schedule.ts';
import { lastTime, nextTime } from '../../../api/batch/v1/schedule-times.ts';
import { isTimeZone } from '../../../api/batch/v1/time-zone.ts';
import type { ObjectReference } from '../../../api/core/v1/types.gen.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { rfc3339 } from '../../../base/time.ts';

/** Milliseconds by which a Job is created after its due time, because clocks differ slightly. */
const padding = 100;
/** Number of missed times from which a warning is recorded. */
const many = 100;

export interface News {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface CronJobPlan {
  readonly status: NonNullable<CronJob['status']>;
  /** Finished Jobs beyond the history limit, the oldest first. */
  readonly remove: readonly Job[];
  /** Job to create: its scheduled time, and the Jobs that it replaces. */
  readonly start: { readonly at: number; readonly replace: readonly ObjectReference[] } | undefined;
  /** Milliseconds until the next due time; undefined if there is none. */
  readonly again: number | undefined;
  /** Last due time whose starting deadline has passed. */
  readonly missed: number | undefined;
  readonly news: readonly News[];
}

export interface Known {
  /** Jobs that the CronJob owns. */
  readonly jobs: readonly Job[];
  /** Uids of listed active Jobs that do not exist. */
  readonly missing: ReadonlySet<string>;
  /** Time from which the schedule is valid, if it is known: earlier due times were not missed. */
  readonly since: number | undefined;
  /** Last missed time that was reported. */
  readonly reportedMissed?: number | undefined;
  readonly now: number;
}

export function planCronJob(cronJob: CronJob, known: Known): CronJobPlan {
  const { status, news } = review(cronJob, known);
  const remove = beyondHistory(cronJob, known.jobs);
  const plan = { status, remove, start: undefined, again: undefined, missed: undefined, news };
  if (isTerminating(cronJob) || cronJob.spec.suspend) return plan;
  const schedule = readSchedule(cronJob);
  if ('reason' in schedule) return { ...plan, news: [...news, schedule] };
  const due = planDue(cronJob, schedule, status, known);
  return { ...plan, ...due, news: [...news, ...due.news] };
}

/** Returns the status with the Jobs that still run and the time of the last success. */
function review({ status: old = {} }: CronJob, { jobs, missing }: Known) {
  const listed = old.active ?? [];
  const isListed = new Set(listed.map(({ uid }) => uid));
  const ended = jobs.filter(finishedCondition);
  const hasEnded = new Set<string | undefined>(ended.map(({ metadata }) => metadata.uid));
  const lastSuccessfulTime = ended
    .filter((job) => finishedCondition(job)?.type === 'Complete')
    .reduce((time, { status }) => laterOf(time, status?.completionTime), old.lastSuccessfulTime);
  const lost = listed.filter(({ uid = '' }) => missing.has(uid));
  const active = listed.filter(({ uid }) => !hasEnded.has(uid) && !missing.has(uid ?? ''));
  return {
    status: withActive({ ...old, lastSuccessfulTime }, active),
    news: [
      ...jobs.flatMap((job) => newsOfJob(job, isListed.has(job.metadata.uid))),
      ...lost.map(({ name }) => normal('MissingJob', `Active job went missing: ${name}`)),
    ],
  };
}

/** Returns the news about a job that exists. `isListed` is true if the status lists it as active. */
function newsOfJob(job: Job, isListed: boolean): News[] {
  const { name } = job.metadata;
  const condition = finishedCondition(job);
  if (condition && isListed)
    return [normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${condition.type}`)];
  if (condition || isListed) return [];
  return [warning('UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`)];
}

/** Returns the later of two times in RFC 3339; either may be absent. */
const laterOf = (known: string | undefined, time: string | undefined) =>
  time === undefined || Date.parse(time) <= Date.parse(known ?? '') ? known : time;

export const withActive = (
  { active: _, ...status }: NonNullable<CronJob['status']>,
  active: readonly ObjectReference[],
): NonNullable<CronJob['status']> => ({ ...status, ...(active.length > 0 && { active: [...active] }) });

function beyondHistory({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const of = (type: 'Complete' | 'Failed', limit: number) => {
    const some = jobs.filter((job) => finishedCondition(job)?.type === type);
    return some.toSorted(byStart).slice(0, Math.max(0, some.length - limit));
  };
  const found = [
    ...of('Complete', spec.successfulJobsHistoryLimit),
    ...of('Failed', spec.failedJobsHistoryLimit),
  ];
  return found.filter((job) => !isTerminating(job));
}

function byStart(a: Job, b: Job): number {
  const time = ({ status }: Job) =>
    status?.startTime ? Date.parse(status.startTime) : Number.MAX_SAFE_INTEGER;
  return time(a) - time(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

function readSchedule({ spec: { schedule, timeZone } }: CronJob): Schedule | News {
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return warning('UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`);
  try {
    return parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return warning('UnparseableSchedule', `unparseable schedule: "${schedule}" : ${error.message}`);
  }
}

type Due = Pick<CronJobPlan, 'start' | 'again' | 'missed' | 'news'>;

function planDue(cronJob: CronJob, schedule: Schedule, status: CronJobPlan['status'], known: Known): Due {
  const { spec, metadata } = cronJob;
  const { now, since = 0, reportedMissed } = known;
  const { timeZone: zone = 'UTC' } = spec;
  const before = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp);
  const anchor = Math.max(before, since);
  const oldest = now - (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const latest = lastTime(schedule, { anchor, since: anchor, now }, zone);
  const next = nextTime(schedule, latest ?? Math.max(anchor, schedule.type === 'every' ? 0 : now), zone);
  const again = next === undefined ? undefined : next + padding - now;
  if (latest === undefined) return again === undefined ? neverDue(cronJob) : idle(again);
  // A Job is no longer started for a due time before the deadline.
  if (latest < oldest) return { ...idle(again, ...newsOfMissed(latest, reportedMissed)), missed: latest };
  const missed = () => missedMany(schedule, Math.max(anchor, oldest), now, zone);
  return { ...idle(again), ...startOrWait(cronJob, latest, status.active ?? [], missed) };
}

/** Returns the news about a missed time, unless it was reported before. */
const newsOfMissed = (at: number, reported: number | undefined): News[] =>
  at === reported ? [] : [missedOne(at)];

/** Returns the start of the Job that is due at `at`, if the Jobs that run allow it. */
function startOrWait(
  cronJob: CronJob,
  at: number,
  active: readonly ObjectReference[],
  missed: () => readonly News[],
): Pick<Due, 'news'> & Partial<Due> {
  const { concurrencyPolicy } = cronJob.spec;
  if (active.some(({ name }) => name === jobName(cronJob, at))) return { news: [] };
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return { news: [normal('JobAlreadyActive', message)] };
  }
  return { start: { at, replace: concurrencyPolicy === 'Replace' ? active : [] }, news: missed() };
}

const idle = (again: number | undefined, ...news: readonly News[]): Due => ({
  start: undefined,
  again,
  missed: undefined,
  news,
});

const neverDue = ({ spec }: CronJob) =>
  idle(undefined, warning('InvalidSchedule', `invalid schedule: ${spec.schedule} : it is never due`));

/** Formats the time as Go's RFC1123Z. */
const missedOne = (at: number): News =>
  warning(
    'MissSchedule',
    `Missed scheduled time to start a job: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
  );

/** Warns about many missed times. Their number is estimated from the distance of the first two. */
function missedMany(schedule: Schedule, since: number, now: number, zone: string): News[] {
  const first = nextTime(schedule, since, zone);
  const second = first === undefined ? undefined : nextTime(schedule, first, zone);
  if (first === undefined || second === undefined || (now - first) / (second - first) < many) return [];
  return [
    warning(
      'TooManyMissedTimes',
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    ),
  ];
}

/** Returns the same name for the same minute, so that no time is started twice. */
export const jobName = ({ metadata }: CronJob, at: number) => `${metadata.name}-${Math.floor(at / 60_000)}`;

/** Returns the status after the Job was created. */
export function withStarted(status: CronJobPlan['status'], { apiVersion, kind, metadata }: Job, at: number) {
  const { name, namespace, uid, resourceVersion } = metadata;
  const reference = { apiVersion, kind, name, namespace, uid, resourceVersion };
  return { ...withActive(status, [...(status.active ?? []), reference]), lastScheduleTime: rfc3339(at) };
}

const warning = (reason: string, message: string): News => ({ type: 'Warning', reason, message });
const normal = (reason: string, message: string): News => ({ type: 'Normal', reason, message });
