/**
 * etcd as a supervised child of this process, for a cluster with one master. It listens on unix sockets in a
 * directory that only this user can enter, so other users of the machine cannot reach it, and on no network port.
 *
 * - It is started again, with growing delay, whenever it ends while it should run.
 * - It ends with this process, also when that is killed (etcd-process.ts). One that does not, because it is frozen or
 *   busy, is found by its command line naming our data directory, and ended before a new one starts.
 * - The data of a killed etcd are used as they are, but for those of one that never served (first-data.ts).
 */
import { access, chmod, constants, type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { etcdAdvice } from './etcd-output.ts';
import { lastOutput, logFile, runEtcd, socketAddress, untilServing } from './etcd-process.ts';
import { dataOf, isUnfinished, keepData, prepareData } from './first-data.ts';
import { endProcess, parentLikeUs, processesWithArguments } from './leftover-process.ts';
import { leftoverArguments, markFormat, takeOverData } from './take-over.ts';

export interface EmbeddedEtcdOptions {
  /** The etcd executable. */
  readonly binary: string;
  /** Where an etcd lies that reads data of before 3.6, should there be some; they are taken over then. */
  readonly earlierBinary: string;
  /** Holds the data, the sockets and the log; made with mode 0700. */
  readonly dataDir: string;
  /** Bytes the database may grow to; 2 GiB by default. */
  readonly quotaBytes?: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** Ends etcd as `stop` does. */
  readonly signal: AbortSignal;
}

export interface EmbeddedEtcd {
  /** For connectEtcd. */
  readonly endpoints: readonly string[];
  /** What connectEtcd may use as `keepaliveMs` with this server. */
  readonly keepaliveMs: number;
  /** The running process; undefined between two starts. */
  pid(): number | undefined;
  /** What an administrator has to do before it can serve, in one line; undefined when there is nothing to do. */
  trouble(): string | undefined;
  /** Resolves when etcd has ended: asked to first, killed after 5 s. */
  stop(): Promise<void>;
}

const restart = { initialMs: 50, maxMs: 5_000 };
/** After a run this long the next start is not delayed. */
const goodRunMs = 10_000;
const stopMs = 5000;
/** A disk that is busy makes the first start take seconds. */
const firstStartMs = 30_000;

/**
 * Resolves once the first process is started; etcd answers some 300 ms later, which connectEtcd waits for. The very
 * first time it resolves when etcd has answered; data of an earlier etcd are taken over before. Rejects when they
 * cannot be, when `binary` is not there, when a living master uses `dataDir`, and with the signal's reason when that
 * aborts before.
 */
export async function startEmbeddedEtcd(options: EmbeddedEtcdOptions): Promise<EmbeddedEtcd> {
  const { clock, signal } = options;
  const log = options.log.named('etcd');
  const dataDir = path.resolve(options.dataDir);
  await access(options.binary, constants.X_OK).catch((cause) => {
    throw new Error(`${options.binary} cannot be run`, { cause });
  });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await chmod(dataDir, 0o700);
  await endLeftovers(dataDir, log, clock);
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const directory = await open(dataDir, 'r');
  try {
    await takeOverData({ ...options, dataDir, directory, log });
  } catch (error) {
    await directory.close();
    throw error;
  }
  const run: Run = { pid: undefined, startedAt: 0, advice: undefined };
  const first = Promise.withResolvers<void>();
  const supervised = supervise({ ...options, dataDir, directory, log }, run, ended, first).finally(() =>
    directory.close(),
  );
  await Promise.race([first.promise, supervised]);
  if (signal.aborted) {
    await supervised;
    throw signal.reason;
  }

  const address = socketAddress(dataDir, directory.fd);
  if (await isUnfinished(dataDir)) {
    try {
      await untilServing({ socketPath: address, clock, limitMs: firstStartMs, signal: ended });
      await markFormat(dataDir);
      await keepData(dataDir, directory);
    } catch (error) {
      stopping.abort();
      await supervised;
      signal.throwIfAborted();
      throw new Error(`${errorMessage(error)}; see ${logFile(dataDir)}`);
    }
  }
  return {
    endpoints: [`unix:${address}`],
    keepaliveMs: 2000,
    pid: () => run.pid,
    trouble: () => {
      const lives = run.pid !== undefined && clock.now() - run.startedAt > goodRunMs;
      return lives ? undefined : run.advice;
    },
    async stop() {
      stopping.abort();
      await supervised;
    },
  };
}

/** Ends the etcd that a killed master left behind; rejects when its master still runs. */
async function endLeftovers(dataDir: string, log: Logger, clock: Clock): Promise<void> {
  for (const wanted of leftoverArguments(dataDir)) {
    for (const pid of await processesWithArguments(wanted)) {
      const master = await parentLikeUs(pid);
      if (master !== undefined) {
        throw new Error(
          `process ${master} runs its etcd on ${dataDir}: stop it first, or use another data directory`,
        );
      }
      log.warn('ending the etcd a killed master left behind', { pid });
      await endProcess(pid, stopMs, clock);
    }
  }
}

interface Run {
  pid: number | undefined;
  startedAt: number;
  /** What an administrator has to do, by the end of the last run. */
  advice: string | undefined;
}

interface RunOptions extends EmbeddedEtcdOptions {
  /** `dataDir`, open. */
  readonly directory: FileHandle;
}

async function supervise(
  options: RunOptions,
  run: Run,
  signal: AbortSignal,
  first: PromiseWithResolvers<void>,
): Promise<void> {
  const { clock, log } = options;
  const backoff = new Backoff(restart);
  while (!signal.aborted) {
    const started = clock.now();
    const outcome = await runOnce(options, run, signal, first.resolve).catch(errorMessage);
    if (signal.aborted) return;
    if (clock.now() - started > goodRunMs) backoff.reset();
    const end = await lastOutput(options.dataDir);
    const advice = etcdAdvice(end, dataOf(options.dataDir));
    const delayMs = backoff.next();
    log.error('etcd ended, starting it again', { outcome, delayMs, lastLine: end.line });
    if (advice !== undefined && advice !== run.advice) log.error(advice);
    run.advice = advice;
    await sleep(clock, delayMs, signal).catch(() => undefined);
  }
}

/** Runs etcd until it ends or the signal aborts; tells how it ended. */
async function runOnce(
  options: RunOptions,
  run: Run,
  signal: AbortSignal,
  onStarted: () => void,
): Promise<string> {
  const { dataDir, directory, clock } = options;
  await prepareData(dataDir, directory);
  const command = { ...options, data: dataOf(dataDir), stopMs };
  try {
    return await runEtcd(command, signal, (pid) => {
      run.pid = pid;
      run.startedAt = clock.now();
      onStarted();
    });
  } finally {
    run.pid = undefined;
  }
}
