/**
 * Client of one login host: reads its jobs from the store, runs them on the cluster and writes their results.
 */
import { aborted } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Current } from '../../../base/current.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { Follower } from './follower.ts';
import { JobEntry } from './job-entry.ts';
import { JobFiles } from './job-files.ts';
import { nextStep, withCondition } from './job-plan.ts';
import { JobSteps } from './job-steps.ts';
import type { JobStore } from './job-store.ts';
import { type HostState, LoginHost, type LoginHostOptions } from './login-host.ts';
import { isFinished, type SlurmJob } from './slurm-job.ts';
import { ConnectionError } from './ssh.ts';
import { problemOf } from './step-problem.ts';

export interface SlurmClientOptions {
  readonly store: JobStore;
  /** Settings, read again whenever the Secret changes. A string is the reason why it cannot be used. */
  readonly connection: Current<ConnectionSettings | string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends the client. Jobs on the cluster continue, and the next client takes them over. */
  readonly signal: AbortSignal;
  /**
   * Seconds after which Slurm's controller either has an unanswered request or will never get it. Default
   * 120.
   */
  readonly settleSeconds?: number | undefined;
  /** Opens a connection to the host; default over SSH. */
  readonly open?: LoginHostOptions['open'];
}

/**
 * Runs the client. Resolves when the signal aborts and everything has stopped. Only one client may run per
 * connection at a time (a Lease); if two run for a moment, each job is still submitted once.
 */
export async function runSlurmClient(options: SlurmClientOptions): Promise<void> {
  await new SlurmClient(options).run();
}

class SlurmClient {
  readonly #options: SlurmClientOptions;
  readonly #entries = new Map<string, JobEntry>();
  readonly #host: LoginHost;
  readonly #steps: JobSteps;
  readonly #follower: Follower;
  readonly #running = new Set<Promise<void>>();
  #state: HostState | undefined;

  constructor(options: SlurmClientOptions) {
    const { store, connection, clock, random, log, signal, open, settleSeconds = 120 } = options;
    this.#options = options;
    this.#host = new LoginHost({
      connection,
      clock,
      random,
      log,
      signal,
      open,
      onState: (state) => this.#report(state),
    });
    const files = new JobFiles(this.#host, store);
    this.#steps = new JobSteps({ host: this.#host, store, files, clock, settleSeconds });
    this.#follower = new Follower({
      ...{ host: this.#host, clock, log, signal },
      entries: () => this.#entries.values(),
      onNews: (entry) => this.#drive(entry),
    });
  }

  async run(): Promise<void> {
    const { store, signal } = this.#options;
    const forget = store.onChange(() => this.#read());
    const following = this.#follower.run();
    this.#read();
    await aborted(signal);
    forget();
    for (const { timer, deadline } of this.#entries.values()) {
      timer?.cancel();
      deadline?.cancel();
    }
    await following;
    await Promise.allSettled(this.#running);
  }

  #read(): void {
    const jobs = this.#options.store.jobs();
    for (const job of jobs) {
      const entry = this.#entries.get(job.uid) ?? this.#add(job);
      const news = job.deleting !== entry.job.deleting || job.spec !== entry.job.spec;
      entry.job = job;
      if (news || entry.step === 'none') this.#drive(entry);
    }
    this.#removeOthers(new Set(jobs.map(({ uid }) => uid)));
  }

  #add(job: SlurmJob): JobEntry {
    const { clock, random } = this.#options;
    const entry = new JobEntry(job, clock.now(), random);
    this.#entries.set(job.uid, entry);
    if (this.#state && !isFinished(entry.status)) this.#connected(entry, this.#state).catch(() => undefined);
    this.#watchDeadline(entry);
    return entry;
  }

  #removeOthers(there: ReadonlySet<string>): void {
    for (const [uid, entry] of this.#entries) {
      if (there.has(uid)) continue;
      entry.timer?.cancel();
      entry.deadline?.cancel();
      this.#entries.delete(uid);
    }
  }

  #watchDeadline(entry: JobEntry): void {
    const { clock } = this.#options;
    const { activeDeadlineSeconds: seconds } = entry.job.spec;
    if (seconds === undefined) return;
    const left = Date.parse(entry.status.acceptedTime) + seconds * 1000 - clock.now();
    // A timer may fire slightly before the clock reaches its time.
    entry.deadline = clock.after(Math.max(0, left) + 50, () => this.#drive(entry));
  }

  /** Runs the steps of a job sequentially, and the steps of different jobs concurrently. */
  #drive(entry: JobEntry): void {
    if (entry.driving) {
      entry.again = true;
      this.#interrupt(entry);
      return;
    }
    entry.driving = true;
    entry.timer?.cancel();
    const running = this.#take(entry).finally(() => {
      entry.driving = false;
      this.#running.delete(running);
      if (entry.again) this.#again(entry, 0);
    });
    this.#running.add(running);
  }

  async #take(entry: JobEntry): Promise<void> {
    const { clock, signal } = this.#options;
    try {
      for (let more = true; more && !signal.aborted; ) {
        // A status that could not be written earlier is written first.
        await this.#steps.flush(entry);
        entry.again = false;
        entry.step = nextStep(entry.job, entry.status, clock.now());
        more = await this.#steps.take(entry.step, entry);
        entry.backoff.reset();
      }
      // The job was just submitted, or this client has just started.
      if (entry.followed && entry.queue === undefined) this.#follower.wake();
      if (isFinished(entry.status)) entry.deadline?.cancel();
    } catch (error) {
      if (!signal.aborted) await this.#failed(entry, error);
    }
  }

  async #failed(entry: JobEntry, error: unknown): Promise<void> {
    const { clock, log } = this.#options;
    // The state of the connection reports the fault. No pause is needed: the next step waits for a
    // connection.
    const delay = error instanceof ConnectionError ? 0 : entry.backoff.next();
    const { namespace, name } = entry.job;
    log.warn('a step of a job has failed', {
      job: `${namespace}/${name}`,
      step: entry.step,
      why: errorMessage(error),
      againInMs: Math.round(delay),
    });
    const fault = problemOf(entry.step, error);
    // If the cluster is unreachable as well, the failure is in the log.
    if (fault)
      await this.#steps.write(entry, withCondition(entry.status, fault, clock.now())).catch(() => undefined);
    this.#again(entry, delay);
  }

  #again(entry: JobEntry, delay: number): void {
    const { clock, signal } = this.#options;
    if (signal.aborted || this.#entries.get(entry.job.uid) !== entry) return;
    entry.timer?.cancel();
    entry.timer = clock.after(delay, () => this.#drive(entry));
  }

  /** Interrupts a build when its job is to be stopped; builds have no timeout of their own. */
  #interrupt(entry: JobEntry): void {
    const { clock, log, signal } = this.#options;
    if (entry.step !== 'build' || entry.stopping) return;
    const next = nextStep(entry.job, entry.status, clock.now());
    if (next !== 'cancel' && next !== 'discard') return;
    entry.stopping = true;
    const stopping = this.#steps
      .interrupt(entry)
      .catch((error: unknown) => {
        entry.stopping = false;
        if (!signal.aborted)
          log.warn('cannot end a build', { job: entry.job.name, why: errorMessage(error) });
      })
      .finally(() => this.#running.delete(stopping));
    this.#running.add(stopping);
  }

  #report(state: HostState): void {
    this.#state = state;
    for (const entry of this.#entries.values()) {
      if (isFinished(entry.status)) continue;
      const reporting = this.#connected(entry, state)
        .catch(() => undefined)
        .finally(() => this.#running.delete(reporting));
      this.#running.add(reporting);
    }
  }

  async #connected(entry: JobEntry, { connected, reason, message }: HostState): Promise<void> {
    const condition = { type: 'Connected', status: connected ? 'True' : 'False', reason, message } as const;
    await this.#steps.write(entry, withCondition(entry.status, condition, this.#options.clock.now()));
  }
}
