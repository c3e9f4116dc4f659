/**
 * etcd as a supervised child of this process, for a cluster with one master. It listens on unix sockets in a
 * directory only this user can enter, so nobody else on the machine reaches it, and on no network port at all.
 *
 * - It is started again, with growing delay, whenever it ends while it should run.
 * - A process left over by a master that was killed (found by its command line naming our data directory) is
 *   ended before a new one starts; the data of a killed etcd are used as they are, but for those of one that never
 *   served (first-data.ts).
 */
import { spawn } from 'node:child_process';
import { access, chmod, constants, type FileHandle, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { etcdAdvice, readEtcdOutput } from './etcd-output.ts';
import { dataOf, isUnfinished, keepData, prepareData, untilServing } from './first-data.ts';
import { endProcess, parentLikeUs, processesWithArguments } from './leftover-process.ts';

export interface EmbeddedEtcdOptions {
  /** The etcd executable. */
  readonly binary: string;
  /** Holds the data, the sockets and the log; made with mode 0700. */
  readonly dataDir: string;
  /** Bytes the database may grow to; 2 GiB unless told. */
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
  /** Resolves when etcd has ended: asked to first, killed after 5 s. */
  /** What somebody has to do before it can serve, in one line; undefined while it serves or comes back by itself. */
  trouble(): string | undefined;
  stop(): Promise<void>;
}

const restart = { initialMs: 50, maxMs: 5_000 };
/** A run this long was a good one: the next start is not delayed. */
const goodRunMs = 10_000;
const stopMs = 5000;
/** A disk that is busy makes the first start take seconds. */
const firstStartMs = 30_000;
/** The kernel's limit for a socket's path, its closing zero included. */
const longestSocketPath = 107;
/** etcd names a unix socket after its URL's host and port, in the directory it runs in. */
const clientSocket = 'client:0';

/**
 * Resolves once the first process is started; etcd answers some 300 ms later, which connectEtcd waits for. The very first
 * time it resolves when etcd has answered. Rejects when `binary` is not there, when a living master uses `dataDir`, and
 * with the signal's reason when that aborts before.
 */
export async function startEmbeddedEtcd(options: EmbeddedEtcdOptions): Promise<EmbeddedEtcd> {
  const { clock, signal } = options;
  const log = options.log.named('etcd');
  const dataDir = path.resolve(options.dataDir);
  await access(options.binary, constants.X_OK).catch((cause) => {
    throw new Error(`${options.binary} cannot be run: install etcd (apt-get install etcd-server)`, {
      cause,
    });
  });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await chmod(dataDir, 0o700);
  const [name, data] = etcdArguments(dataDir, undefined, 0);
  for (const pid of await processesWithArguments([name, data])) {
    const master = await parentLikeUs(pid);
    if (master !== undefined) {
      throw new Error(
        `process ${master} runs its etcd on ${dataDir}: stop it first, or use another data directory`,
      );
    }
    log.warn('stopping the etcd that a killed master left behind', { pid });
    await endProcess(pid, stopMs, clock);
  }
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const directory = await open(dataDir, 'r');
  const run: Run = { pid: undefined, startedAt: 0, advice: undefined };
  const first = Promise.withResolvers<void>();
  const supervised = supervise({ ...options, dataDir, directory, log }, run, ended, first).finally(() =>
    directory.close(),
  );
  await Promise.race([first.promise, supervised]);

  const socket = path.join(dataDir, clientSocket);
  // A path too long for a socket's address is reached through the open directory.
  const address =
    socket.length > longestSocketPath ? `/proc/self/fd/${directory.fd}/${clientSocket}` : socket;
  if (!ended.aborted && (await isUnfinished(dataDir))) {
    try {
      await untilServing({ socketPath: address, clock, limitMs: firstStartMs, signal: ended });
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

interface Run {
  pid: number | undefined;
  startedAt: number;
  /** Why the last one ended, when that needs somebody. */
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
    const end = readEtcdOutput(await readFile(logFile(options.dataDir), 'utf8').catch(errorMessage));
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
  // A socket file that a killed etcd left makes the next one fail to listen.
  for (const name of [clientSocket, 'peer:0']) await rm(path.join(dataDir, name), { force: true });
  const output = await open(logFile(dataDir), 'w', 0o600);
  const child = spawn(options.binary, etcdArguments(dataDir, options.quotaBytes, clock.now()), {
    cwd: dataDir,
    stdio: ['ignore', output.fd, output.fd],
    // Its own process group: Ctrl-C reaches the master alone, which then ends etcd after its last write.
    detached: true,
    // Its collector runs when garbage is half of what lives, not as much again: 1,000 nodes renew 100 Leases a second.
    env: { GOGC: '50' },
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, by) => resolve(by ? `killed by ${by}` : `exit status ${code}`));
    child.once('error', (error) => resolve(`cannot be started: ${errorMessage(error)}`));
  });
  child.once('spawn', onStarted);
  run.pid = child.pid;
  run.startedAt = clock.now();
  let kill: { cancel(): void } | undefined;
  const end = () => {
    child.kill('SIGTERM');
    kill = clock.after(stopMs, () => child.kill('SIGKILL'));
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await exited;
  } finally {
    signal.removeEventListener('abort', end);
    kill?.cancel();
    run.pid = undefined;
    await output.close();
  }
}

function logFile(dataDir: string): string {
  return path.join(dataDir, 'etcd.log');
}

/** The first two tell this server from every other one. */
function etcdArguments(
  dataDir: string,
  quotaBytes: number | undefined,
  now: number,
): [string, string, ...string[]] {
  const client = `unix://${clientSocket}`;
  const peer = 'unix://peer:0';
  return [
    '--name=minik8s',
    `--data-dir=${dataOf(dataDir)}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=minik8s=${peer}`,
    // Only read when the data directory is new: a wiped database is then told from the one before it.
    `--initial-cluster-token=${now}`,
    `--quota-backend-bytes=${quotaBytes ?? 2 ** 31}`,
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=5m',
    // So many entries of its log stay in memory: as of 3.6 by itself, before ten times as many.
    '--snapshot-count=10000',
    // Three times the writes with the same durability: the log is still synced for every commit.
    '--experimental-backend-bbolt-freelist-type=map',
    '--backend-batch-limit=1000',
    // Room for the largest object Kubernetes accepts (3 MiB) with its claims.
    '--max-request-bytes=4194304',
    '--grpc-keepalive-min-time=1s',
    // One member: no election to wait for, so short ticks make the first answer fast.
    '--heartbeat-interval=20',
    '--election-timeout=200',
    '--logger=zap',
    '--log-level=warn',
  ];
}
