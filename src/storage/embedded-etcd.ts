/**
 * etcd as a supervised child of this process. It serves clients on a unix socket in a directory that only
 * this user can enter, so other users of the machine cannot reach it. Alone, it listens on no network port;
 * with peers, it listens for them by mutual TLS.
 *
 * - etcd is restarted, with a growing delay, whenever it ends unexpectedly.
 * - etcd ends with this process, even if this process is killed (etcd-process.ts). An etcd that does not end,
 *   because it is frozen or busy, is found by the data directory in its command line, and ended before a new
 *   one starts.
 * - The data of a killed etcd are used as they are, unless that etcd never served (first-data.ts).
 */
import { access, chmod, constants, type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { quoted } from '../base/shell-words.ts';
import { systemExec } from '../os/exec.ts';
import { ifThere } from '../os/if-there.ts';
import { type EtcdEnd, etcdAdvice, isLasting } from './etcd-output.ts';
import { type EtcdPeers, lastOutput, logFile, runEtcd, socketAddress, untilServing } from './etcd-process.ts';
import { dataOf, isUnfinished, keepData, prepareData } from './first-data.ts';
import { endProcess, hasSameDirectory, parentLikeUs, processesWithArguments } from './leftover-process.ts';
import { explainWaiting, untilWaiting } from './lost-entries.ts';
import { formatOf, leftoverArguments, markFormat, requireAllParts, takeOverData } from './take-over.ts';

export interface EmbeddedEtcdOptions {
  /** The etcd executable. */
  readonly binary: string;
  /** Path of an etcd that reads data from before 3.6. If there are such data, they are taken over with it. */
  readonly earlierBinary: string;
  /** Contains the data, the sockets and the log; created with mode 0700. */
  readonly dataDir: string;
  /** Maximum size of the database in bytes; 2 GiB by default. */
  readonly quotaBytes?: number;
  /** The other members; undefined for an etcd that is alone. */
  readonly peers?: EtcdPeers | undefined;
  /** Resolves to the command that mends damaged data, for the advice to the administrator. */
  readonly mending?: () => Promise<string>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Ends etcd as `stop` does. */
  readonly signal: AbortSignal;
}

export interface EmbeddedEtcd {
  /** Endpoints for connectEtcd. */
  readonly endpoints: readonly string[];
  /** Value of `keepaliveMs` for connectEtcd with this server. */
  readonly keepaliveMs: number;
  /** Returns the id of the running process; undefined between two starts. */
  pid(): number | undefined;
  /**
   * Returns, in one line, what an administrator has to do before etcd can serve; undefined if there is
   * nothing to do.
   */
  trouble(): string | undefined;
  /** Restarts etcd as one that listens for peers. Resolves when it serves; rejects if it does not in time. */
  openToPeers(peers: EtcdPeers): Promise<void>;
  /** Stops etcd, by a kill after 5 s. Resolves when etcd has ended. */
  stop(): Promise<void>;
}

const restart = { initialMs: 50, maxMs: 5_000 };
/** Duration of a run after which the next start is not delayed. */
const goodRunMs = 10_000;
const stopMs = 5000;
/** The first start takes seconds on a busy disk. */
const firstStartMs = 30_000;

/**
 * Starts etcd. Resolves once the first process is started; etcd answers some 300 ms later, which connectEtcd
 * waits for. The very first start of a data directory resolves when etcd has answered. Data of an earlier
 * etcd are taken over before. Rejects if they cannot be taken over, if `binary` does not exist, if a running
 * master uses `dataDir`, and with the signal's reason if the signal aborts before.
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
  for (const file of [logFile(dataDir), formatOf(dataDir)]) await requireRegular(file);
  await endLeftovers(dataDir, log, clock);
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const directory = await open(dataDir, 'r');
  try {
    // Data of a member among others come from this version, and are incomplete until it has caught up.
    if (options.peers === undefined) {
      await requireAllParts({ ...options, dataDir });
      await takeOverData({ ...options, dataDir, directory, log });
    }
  } catch (error) {
    await directory.close();
    throw error;
  }
  const run: Run = {
    ...{ pid: undefined, startedAt: 0, advice: undefined, isLogChecked: false, peers: options.peers },
    restarting: new AbortController(),
  };
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
  if (options.peers === undefined && (await isUnfinished(dataDir))) {
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
    async openToPeers(peers) {
      run.peers = peers;
      const { restarting } = run;
      const next = Promise.withResolvers<void>();
      run.onStarted = next.resolve;
      restarting.abort();
      await Promise.race([next.promise, supervised]);
      await untilServing({ socketPath: address, clock, limitMs: firstStartMs, signal: ended });
    },
    async stop() {
      stopping.abort();
      await supervised;
    },
  };
}

/** Rejects if something else than a file is in the place of a file that can be removed without loss. */
async function requireRegular(file: string): Promise<void> {
  const found = await ifThere(stat(file)).catch(() => 'unreadable' as const);
  if (found === undefined || (found !== 'unreadable' && found.isFile())) return;
  throw new Error(`${file} is not a file: remove it (rm -r ${quoted(file)}), and start minik8s again`);
}

/** Ends the etcd that a killed master left behind; rejects if its master still runs. */
async function endLeftovers(dataDir: string, log: Logger, clock: Clock): Promise<void> {
  for (const wanted of leftoverArguments(dataDir)) {
    for (const pid of await processesWithArguments(wanted)) {
      if (!(await hasSameDirectory(pid, dataDir))) continue;
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
  /** Advice to an administrator, from the end of the last run. */
  advice: string | undefined;
  /** True once the write-ahead log was compared with the database. */
  isLogChecked: boolean;
  peers: EtcdPeers | undefined;
  /** Ends the running process, which is then started again with the settings of that time. */
  restarting: AbortController;
  /** Called when the next process has started. */
  onStarted?: () => void;
}

interface RunOptions extends EmbeddedEtcdOptions {
  /** Open handle of `dataDir`. */
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
  await keepDoing({ clock, signal }, async () => {
    const started = clock.now();
    run.restarting = new AbortController();
    const { restarting } = run;
    const outcome = await runOnce(options, run, signal, first.resolve).catch(errorMessage);
    if (signal.aborted) return undefined;
    if (restarting.signal.aborted) return 0;
    if (clock.now() - started > goodRunMs) backoff.reset();
    const end = await endOf(options, run);
    const delayMs = backoff.next();
    if (!isLasting(end)) log.error('etcd ended, starting it again', { outcome, delayMs, lastLine: end.line });
    await advise(end, options, run);
    return delayMs;
  });
}

/** Logs what an administrator has to do after the end of a run, once. */
async function advise(end: EtcdEnd, options: RunOptions, run: Run): Promise<void> {
  const advice = etcdAdvice(end, dataOf(options.dataDir), await mendingFor(end, options));
  if (advice !== undefined && advice !== run.advice) options.log.error(advice);
  run.advice = advice;
}

/** Resolves to the end of the last run. If etcd waited in it, its data explain the end, once. */
async function endOf({ binary, dataDir }: RunOptions, run: Run): Promise<EtcdEnd> {
  const end = await lastOutput(dataDir);
  if (end.trouble === 'waiting') run.isLogChecked = true;
  return explainWaiting(end, { binary, data: dataOf(dataDir), exec: systemExec });
}

const mendingFor = async ({ trouble }: EtcdEnd, { mending }: EmbeddedEtcdOptions) =>
  trouble === 'damaged' ? mending?.() : undefined;

/**
 * Runs etcd until it ends or the signal aborts; returns how it ended. An etcd that waits instead of serving
 * is ended, because its data can only be read then.
 */
async function runOnce(
  options: RunOptions,
  run: Run,
  signal: AbortSignal,
  onStarted: () => void,
): Promise<string> {
  const { dataDir, directory, clock } = options;
  const { peers } = run;
  // A member that votes must not lose its log, so data of a first start that was interrupted are kept.
  if (peers === undefined) await prepareData(dataDir, directory);
  const command = { ...options, peers, data: dataOf(dataDir), stopMs };
  const waited = new AbortController();
  const ended = new AbortController();
  try {
    return await runEtcd(command, AbortSignal.any([signal, run.restarting.signal, waited.signal]), (pid) => {
      run.pid = pid;
      run.startedAt = clock.now();
      onStarted();
      run.onStarted?.();
      // A member of several waits for the others.
      if (peers === undefined && !run.isLogChecked)
        void untilWaiting(logFile(dataDir), ended.signal).then((waits) => waits && waited.abort());
    });
  } finally {
    run.pid = undefined;
    ended.abort();
  }
}
