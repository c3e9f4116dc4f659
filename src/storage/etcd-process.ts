/**
 * One run of etcd, whose clients connect by a unix socket, and the readiness check. An etcd that is alone may
 * be of any version from 3.4 on; one with peers is of this version.
 */
import { spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { type EtcdEnd, readEtcdOutput } from './etcd-output.ts';

/** Settings of an etcd that is one of several members, which connect to each other by mutual TLS. */
export interface EtcdPeers {
  /** Name of this member among the others. */
  readonly name: string;
  /** URL at which it listens for the other members, such as `https://192.0.2.10:2380`. */
  readonly url: string;
  /** All members as `NAME=URL,…`; etcd reads it when its data directory is new. */
  readonly initialCluster: string;
  /** Paths of PEM files. etcd reads certificate and key at each connection, the authority at its start. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface EtcdCommand {
  /** The etcd executable. */
  readonly binary: string;
  /** Working directory, which contains the sockets and the log. */
  readonly dataDir: string;
  /** Data directory of etcd. */
  readonly data: string;
  /** Maximum size of the database in bytes; 2 GiB by default. */
  readonly quotaBytes?: number;
  /** Timeout of a graceful end in milliseconds; then etcd is killed. */
  readonly stopMs: number;
  /** Undefined for an etcd that is the only member. */
  readonly peers?: EtcdPeers | undefined;
  /** True if etcd makes a cluster of this member alone from its data. */
  readonly forcesNewCluster?: boolean;
  readonly clock: Clock;
}

/** The kernel's limit for the path of a socket, including its closing zero. */
const maxSocketPathLength = 107;
/** etcd names a unix socket after its URL's host and port, in its working directory. */
const clientSocket = 'client:0';
const peerSocket = 'peer:0';
const logRoom = 16_384;

export const memberName = 'minik8s';
export const peerUrl = `unix://${peerSocket}`;

/**
 * Runs etcd until it ends or the signal aborts; returns how it ended. Must be called in the main thread: when
 * the thread that started etcd ends, the kernel ends etcd.
 */
export async function runEtcd(
  command: EtcdCommand,
  signal: AbortSignal,
  onStarted: (pid: number) => void,
): Promise<string> {
  const { binary, dataDir, clock, stopMs } = command;
  // A socket file of a killed etcd would make the next etcd fail to listen.
  for (const name of [clientSocket, peerSocket]) await rm(path.join(dataDir, name), { force: true });
  const output = await open(logFile(dataDir), 'w', 0o600);
  // Empty lines that etcd overwrites: they reserve space for the message that the disk is full.
  await output.write(Buffer.alloc(logRoom, '\n'), 0, logRoom, 0).catch(() => undefined);
  // setpriv of util-linux: the kernel ends etcd if this process is killed and cannot do so itself.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', binary, ...etcdArguments(command)], {
    cwd: dataDir,
    stdio: ['ignore', output.fd, output.fd],
    // A process group of its own: Ctrl-C reaches the master alone, which then ends etcd after its last write.
    detached: true,
    // The garbage collector of etcd runs when the heap has grown by half, instead of doubled: 1,000 nodes
    // renew 100 Leases a second. The second variable is the number of writes that stay in memory after a
    // snapshot, for members that lag. It is not given as a flag, which etcd before 3.6 would reject.
    env: { GOGC: '50', ...(command.peers === undefined && { ETCD_SNAPSHOT_CATCHUP_ENTRIES: '100' }) },
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, by) => resolve(by ? `killed by ${by}` : `exit status ${code}`));
    child.once('error', (error) => resolve(`cannot be started: ${errorMessage(error)}`));
  });
  child.once('spawn', () => onStarted(child.pid as number));
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
    await output.close();
  }
}

export function logFile(dataDir: string): string {
  return path.join(dataDir, 'etcd.log');
}

/** Returns the end of the last run, from its log. */
export async function lastOutput(dataDir: string): Promise<EtcdEnd> {
  return readEtcdOutput(await readFile(logFile(dataDir), 'utf8').catch(errorMessage));
}

/**
 * Returns the path by which clients connect. `descriptor` is that of the open `dataDir`: it shortens a path
 * that is too long for a socket.
 */
export function socketAddress(dataDir: string, descriptor: number): string {
  const socket = path.join(dataDir, clientSocket);
  return socket.length > maxSocketPathLength ? `/proc/self/fd/${descriptor}/${clientSocket}` : socket;
}

const clientUrl = `--listen-client-urls=unix://${clientSocket}`;

/** Returns the arguments that identify the etcd of this data directory among all processes. */
export function ownArguments(data: string): [string, string] {
  return [`--data-dir=${data}`, clientUrl];
}

function etcdArguments(command: EtcdCommand): string[] {
  const { data, quotaBytes, peers } = command;
  return [
    `--name=${peers?.name ?? memberName}`,
    ...ownArguments(data),
    `--advertise-client-urls=unix://${clientSocket}`,
    ...(peers ? argumentsWithPeers(peers) : argumentsAlone(command)),
    ...(command.forcesNewCluster ? ['--force-new-cluster'] : []),
    `--quota-backend-bytes=${quotaBytes ?? 2 ** 31}`,
    '--backend-batch-limit=1000',
    // Room for the largest object that Kubernetes accepts (3 MiB) with its claims.
    '--max-request-bytes=4194304',
    '--grpc-keepalive-min-time=1s',
    // The default in every version but 3.4.
    '--logger=zap',
    '--log-level=warn',
  ];
}

function argumentsAlone({ clock }: EtcdCommand): string[] {
  return [
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${memberName}=${peerUrl}`,
    // The token is only read if the data directory is new: it distinguishes a wiped database from the one
    // before it.
    `--initial-cluster-token=${clock.now()}`,
    // etcd keeps the writes since its last snapshot in memory and reads them again when it starts; each may
    // have megabytes.
    '--snapshot-count=500',
    // A single member has no election to wait for, so short ticks make the first answer fast.
    '--heartbeat-interval=20',
    '--election-timeout=200',
  ];
}

/** The member joins a cluster that exists. Snapshots and elections are etcd's usual ones, for a network. */
function argumentsWithPeers({ url, initialCluster, ca, cert, key }: EtcdPeers): string[] {
  return [
    `--listen-peer-urls=${url}`,
    `--initial-advertise-peer-urls=${url}`,
    `--initial-cluster=${initialCluster}`,
    '--initial-cluster-state=existing',
    '--peer-client-cert-auth',
    `--peer-trusted-ca-file=${ca}`,
    `--peer-cert-file=${cert}`,
    `--peer-key-file=${key}`,
    // Members verify that a connection comes from an address of its certificate: that of the URL.
    '--feature-gates=SetMemberLocalAddr=true',
    '--heartbeat-interval=100',
    '--election-timeout=1000',
  ];
}

/** Two numbers by which the contents of two etcds are compared. */
export interface EtcdContents {
  readonly revision: string;
  readonly keys: string;
}

export interface ServingOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when etcd has a leader and serves reads from it, with all of its log applied. etcd sends no
 * notification of that, so it is polled. Rejects with the last answer after `limitMs`, and with the signal's
 * reason.
 */
export async function untilServing({
  socketPath,
  clock,
  limitMs,
  signal,
}: ServingOptions): Promise<EtcdContents> {
  const deadline = clock.now() + limitMs;
  for (;;) {
    const answer = await askContents(socketPath, signal).catch(errorMessage);
    if (typeof answer !== 'string') return answer;
    signal.throwIfAborted();
    if (clock.now() >= deadline) throw new Error(`etcd did not begin to serve: ${answer}`);
    await sleep(clock, 20, signal);
  }
}

/**
 * Returns the revision and the number of keys through etcd's HTTP gateway, which reads from the leader, and
 * only what is committed.
 */
async function askContents(socketPath: string, signal: AbortSignal): Promise<EtcdContents> {
  const all = Buffer.from([0]).toString('base64');
  const answer = await post(
    socketPath,
    '/v3/kv/range',
    { key: all, range_end: all, count_only: true },
    signal,
  );
  const { header, count } = JSON.parse(answer) as {
    readonly header?: { readonly revision?: string };
    readonly count?: string;
  };
  if (header?.revision === undefined) throw new Error(answer);
  // The gateway omits zeros.
  return { revision: header.revision, keys: count ?? '0' };
}

function post(socketPath: string, url: string, body: unknown, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path: url, method: 'POST', agent: false, signal, timeout: 2000 },
      (response) => void text(response).then(resolve, reject),
    );
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', reject);
    call.end(JSON.stringify(body));
  });
}
