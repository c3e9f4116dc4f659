/**
 * Follows all submitted jobs together, so that the number of requests to Slurm does not grow with the number
 * of jobs.
 */
import type { Clock } from '../../../base/clock.ts';
import { keepDoing, Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import { arrayTasks } from './batch-script.ts';
import { accountLines, type Looked, lookedAt, queueLines } from './host-answers.ts';
import { accountScript, lookScript, queueScript } from './host-scripts.ts';
import { type JobEntry, nothingLooked } from './job-entry.ts';
import { lacksExitStatus } from './job-plan.ts';
import type { LoginHost } from './login-host.ts';

/** Milliseconds between checks of the files, which cost Slurm nothing. */
const lookMs = 2000;
/**
 * Milliseconds between queries of the queue, and the minimum after an event: a job that is new, has begun or
 * has ended.
 */
const queueMs = 15_000;
const soonestQueueMs = 3000;
/**
 * Minimum milliseconds between queries of accounting: at most 4 a minute, and only for jobs that are not
 * in the queue.
 */
const accountMs = 15_000;
/** Milliseconds for which a job may be missing in Slurm: accounting is updated late, at times very late. */
const lostMs = 600_000;
const lostWithoutAccountingMs = 60_000;

export interface FollowerOptions {
  readonly host: Pick<LoginHost, 'run'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly entries: () => Iterable<JobEntry>;
  /** Called for each job with new information. */
  readonly onNews: (entry: JobEntry) => void;
}

export class Follower {
  readonly #options: FollowerOptions;
  #lastQueue = Number.NEGATIVE_INFINITY;
  #lastAccount = Number.NEGATIVE_INFINITY;
  #hurry = false;
  readonly #wake = new Wake();
  /** True while no job is followed: only then does `wake` end the pause. */
  #isIdle = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Wakes the follower for a job that was not followed before. */
  wake(): void {
    this.#hurry = true;
    if (this.#isIdle) this.#wake.call();
  }

  async run(): Promise<void> {
    const { clock, log, signal } = this.#options;
    const onError = (error: unknown) =>
      log.warn('cannot query the jobs on the host', { why: errorMessage(error) });
    await keepDoing({ clock, signal, wake: this.#wake, restMs: lookMs, onError }, async () => {
      const followed = this.#followed();
      this.#isIdle = followed.length === 0;
      if (this.#isIdle) return Number.POSITIVE_INFINITY;
      await this.#look(followed);
      if (this.#isQueueDue()) await this.#query(followed);
      return lookMs;
    });
  }

  #isQueueDue(): boolean {
    const waited = this.#options.clock.monotonic() - this.#lastQueue;
    return waited >= queueMs || (this.#hurry && waited >= soonestQueueMs);
  }

  #followed(): JobEntry[] {
    return [...this.#options.entries()].filter((entry) => entry.followed);
  }

  async #look(followed: readonly JobEntry[]): Promise<void> {
    const { host, onNews } = this.#options;
    const found = lookedAt((await host.run('ask', lookScript(followed.map(placeOf)))).stdout);
    for (const entry of followed) {
      const looked = found.get(entry.status.workDir ?? '') ?? nothingLooked;
      const before = entry.looked;
      entry.looked = looked;
      if (looked.exited.size > before.exited.size || begun(looked) > begun(before)) this.#hurry = true;
      if (grew(before.sizes, looked.sizes)) onNews(entry);
    }
  }

  async #query(followed: readonly JobEntry[]): Promise<void> {
    const { host, clock, onNews } = this.#options;
    this.#lastQueue = clock.monotonic();
    this.#hurry = false;
    const { code, stdout, stderr } = await host.run('ask', queueScript(followed.map(placeOf)));
    if (code !== 0) throw new Error(`squeue: ${stderr.trim() || `exit status ${code}`}`);
    const queue = Map.groupBy(queueLines(stdout), ({ id }) => id);
    for (const entry of followed) {
      entry.queue = queue.get(entry.status.jobID ?? '') ?? [];
      if (!isMissing(entry)) entry.unknownSince = undefined;
    }
    const missing = followed.filter(isMissing);
    if (missing.length > 0) await this.#account(missing);
    const ended = followed.filter(({ job, tasks }) => lacksExitStatus(job.spec, tasks));
    if (ended.length > 0) await this.#look(ended);
    for (const entry of followed) {
      entry.answered = true;
      onNews(entry);
    }
  }

  async #account(missing: readonly JobEntry[]): Promise<void> {
    const { host, clock, log } = this.#options;
    const now = clock.monotonic();
    if (now - this.#lastAccount < accountMs) {
      this.#hurry = false;
      return;
    }
    this.#lastAccount = now;
    const answer = await host.run('ask', accountScript(missing.map(({ status }) => status.jobID ?? '')));
    const disabled = answer.code !== 0 && /disabled|not found/i.test(answer.stderr);
    if (answer.code !== 0 && !disabled) {
      log.warn('sacct has failed', { why: answer.stderr.trim().slice(0, 500) });
      return;
    }
    const accounts = Map.groupBy(accountLines(answer.stdout), ({ id }) => id);
    for (const entry of missing) {
      entry.account = accounts.get(entry.status.jobID ?? '') ?? [];
      if (isMissing(entry)) countMissing(entry, disabled, now);
      else entry.unknownSince = undefined;
    }
  }
}

const placeOf = ({ status }: JobEntry) => ({ id: status.jobID ?? '', folder: status.workDir ?? '' });

const numbersOf = ({ job }: JobEntry): string[] => (arrayTasks(job.spec.array) ?? ['-']).map(String);

/** Decides whether the cluster has forgotten a job that neither squeue nor sacct lists. */
function countMissing(entry: JobEntry, isDisabled: boolean, now: number): void {
  entry.unknownSince ??= now;
  const known = isDisabled && numbersOf(entry).every((number) => entry.looked.exited.has(number));
  entry.forgotten = known || now - entry.unknownSince >= (isDisabled ? lostWithoutAccountingMs : lostMs);
}

/** Returns true if a task of the job is neither in the queue nor in accounting. */
function isMissing(entry: JobEntry): boolean {
  const numbers = arrayTasks(entry.job.spec.array);
  if (numbers === undefined) return entry.tasks.length === 0;
  const listed = new Set(entry.tasks.flatMap(({ tasks }) => tasks ?? []));
  return numbers.some((number) => !listed.has(number));
}

const grew = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean =>
  [...after].some(([name, size]) => size > (before.get(name) ?? 0));

/** Returns the number of tasks that have begun: Slurm creates a task's output file at its start. */
const begun = ({ sizes }: Looked) => [...sizes.keys()].filter((name) => name.startsWith('stdout')).length;
