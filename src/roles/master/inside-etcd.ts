/** The embedded etcd of a master: alone, or one member among those of the other masters. */
import { existsSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { finishRecovery } from '../../backup/recovery.ts';
import { onAbort } from '../../base/abort.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { quoted } from '../../base/shell-words.ts';
import {
  etcdPeersOf,
  type OwnMember,
  openPeerCredentials,
  peerLeaf,
  writeOwnMember,
} from '../../masters/member-folder.ts';
import { isMasterName, peerUrlOf } from '../../masters/member-names.ts';
import { extractAsset } from '../../os/assets.ts';
import { systemExec } from '../../os/exec.ts';
import { ifThere } from '../../os/if-there.ts';
import type { Credentials } from '../../pki/credentials.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../storage/embedded-etcd.ts';
import { etcdAdvice } from '../../storage/etcd-output.ts';
import { untilServing } from '../../storage/etcd-process.ts';
import type { PartSettings } from '../settings/setting-table.ts';
import { ownMember } from './joining.ts';
import { mendingOf } from './mending.ts';

export interface InsideEtcdOptions {
  readonly settings: PartSettings<'control plane'>;
  /** Address at which the other masters reach this one. */
  readonly advertiseAddress: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface InsideEtcd {
  readonly etcd: EmbeddedEtcd;
  /** Directory of its data, and of its member. */
  readonly directory: string;
  readonly socket: string;
  /** Name and URL that this master has, or would have, among several. */
  readonly name: string;
  readonly peerUrl: string;
  /** This master's member and the credentials of the peers; undefined if etcd is alone. */
  readonly member: { readonly own: OwnMember; readonly credentials: Credentials } | undefined;
}

/** Returns the path to which the embedded etcd is extracted. */
export const etcdBinaryIn = (dataDir: string): string => join(dataDir, 'bin/etcd/etcd');

/**
 * Starts the embedded etcd, which is stopped with the stack. A master that joins becomes a member first. With
 * other members, resolves once a majority of them answers, and this one has caught up.
 */
export async function startInsideEtcd(
  options: InsideEtcdOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<InsideEtcd> {
  const { settings, advertiseAddress, clock, log } = options;
  const dataDir = settings['data-dir'];
  const directory = join(dataDir, 'etcd');
  const peerUrl = peerUrlOf(advertiseAddress, settings['etcd-peer-port']);
  const binary = etcdBinaryIn(dataDir);
  const earlierBinary = await prepareBinary(dataDir, binary);
  const places = { dataDir, backupDir: settings['backup-dir'], etcdBinary: binary };
  const mending = () => mendingOf({ ...places, exec: systemExec });
  await requireDirectory(directory, mending);
  if (await finishRecovery(directory, clock.now())) log.info('a recovery that was interrupted is finished');
  const wantedName = masterNameOf(settings);
  const joined = await ownMember({ settings, name: wantedName, peerUrl, clock, log }, signal);
  const member = joined && (await withCredentials(directory, { ...joined, peerUrl }, clock));
  signal.throwIfAborted();
  if (!member) await requireDataOfMaster(dataDir, directory, mending);
  const peers = member && etcdPeersOf(directory, member.own);
  const etcd = await startUntil(
    { ...{ binary, earlierBinary, dataDir: directory, mending, log, clock }, ...(peers && { peers }) },
    stack,
    signal,
  );
  const socket = (etcd.endpoints[0] ?? '').replace(/^unix:/, '');
  if (member) await untilMember({ socket, etcd, clock, log }, signal);
  return { etcd, directory, socket, name: joined?.name ?? wantedName, peerUrl, member };
}

/**
 * Rejects if a master has run here and its data are missing, for example because a disk is not mounted: etcd
 * would start with an empty database.
 */
async function requireDataOfMaster(
  directory: string,
  etcdDirectory: string,
  mending: () => Promise<string>,
): Promise<void> {
  const hasData = ['data', 'data.ready'].some((name) => existsSync(join(etcdDirectory, name)));
  if (hasData || !existsSync(join(directory, 'admin.conf'))) return;
  const line = 'there are none, but a master has run here';
  throw new Error(etcdAdvice({ line, trouble: 'damaged' }, etcdDirectory, await mending()));
}

/** Rejects if something else is in the place of the directory of etcd. */
async function requireDirectory(directory: string, mending: () => Promise<string>): Promise<void> {
  const found = await ifThere(stat(directory));
  if (found === undefined || found.isDirectory()) return;
  const line = `it is not a directory: remove it (rm ${quoted(directory)})`;
  throw new Error(etcdAdvice({ line, trouble: 'damaged' }, directory, await mending()));
}

function masterNameOf(settings: InsideEtcdOptions['settings']): string {
  const name = settings['master-name'] ?? hostname().toLowerCase();
  return isMasterName(name) ? name : 'master';
}

/** Extracts etcd; resolves to the path of the one of an earlier version. */
async function prepareBinary(dataDir: string, binary: string): Promise<string> {
  const directory = join(dataDir, 'bin/etcd');
  const earlierBinary = `${directory}-earlier`;
  await setAside(directory, earlierBinary);
  await extractAsset('etcd.zst', binary, 0o755);
  return earlierBinary;
}

/** Renews the certificate of the member, whose address may have changed, before etcd reads it. */
async function withCredentials(directory: string, own: OwnMember, clock: Clock) {
  const credentials = await openPeerCredentials(directory, () => clock.now());
  await credentials.leaf(peerLeaf(own));
  await writeOwnMember(directory, own);
  return { own, credentials };
}

/**
 * Until etcd has started, the signal that stops the process aborts the start. After that, etcd is stopped by
 * the stack, after the parts that write to it.
 */
async function startUntil(
  options: Omit<Parameters<typeof startEmbeddedEtcd>[0], 'signal'>,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<EmbeddedEtcd> {
  const abandoned = new AbortController();
  const forget = onAbort(signal, () => abandoned.abort(signal.reason));
  const etcd = await startEmbeddedEtcd({ ...options, signal: abandoned.signal });
  forget();
  stack.defer(() => etcd.stop());
  return etcd;
}

/**
 * Timeout of the majority, delay of the notice about it, and timeout of an attempt, in milliseconds. Masters
 * that lost power at the same time may start at different speeds.
 */
const majorityMs = 300_000;
const noticeMs = 15_000;
const attemptMs = 2_000;

const noMajority =
  'no majority of the masters answers: start the others; if they are lost, stop this one and run minik8s recover --from-this-master';

interface Waiting {
  readonly socket: string;
  readonly etcd: EmbeddedEtcd;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Resolves when this member serves requests, which needs a majority and a vote: a learner serves none. */
async function untilMember({ socket, etcd, clock, log }: Waiting, signal: AbortSignal): Promise<void> {
  const deadline = clock.now() + majorityMs;
  const notice = clock.after(noticeMs, () => log.warn(`waiting: ${noMajority}`));
  try {
    for (;;) {
      const trouble = etcd.trouble();
      if (trouble !== undefined) throw new Error(trouble);
      const answer = await untilServing({ socketPath: socket, clock, limitMs: attemptMs, signal }).catch(
        errorMessage,
      );
      if (typeof answer !== 'string') return;
      signal.throwIfAborted();
      if (clock.now() >= deadline) throw new Error(`${noMajority} (${answer})`);
      await sleep(clock, 100, signal);
    }
  } finally {
    notice.cancel();
  }
}

/**
 * Moves away the etcd program of an earlier minik8s, a file at the path where this version has a directory.
 * The program is kept to read its data. The earlier minik8s can then no longer start here, since its etcd
 * would write into the data of this version, and neither etcd could read the data afterwards.
 */
async function setAside(directory: string, earlierBinary: string): Promise<void> {
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (found?.isFile()) await rename(directory, earlierBinary);
}
