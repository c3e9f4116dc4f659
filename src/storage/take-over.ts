/**
 * Takes over data that an earlier etcd wrote. etcd only reads data of the previous minor version, so the
 * earlier etcd, which an earlier minik8s left beside the data, serves them once more. The contents of its
 * database are then restored into a new directory, which replaces the old one once this etcd has answered
 * with all of them. Revisions stay as they are. The old data are kept.
 *
 * - `format` names the data directory that this etcd is known to read; the database of any other is inspected
 *   first.
 * - `data.new` is an unfinished copy; `data.ready` was served and checked, and only has to be renamed.
 */
import { constants } from 'node:fs';
import { access, type FileHandle, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { ExecError, systemExec } from '../os/exec.ts';
import { replaceFile } from '../os/replace-file.ts';
import { lostPart, readParts } from './data-parts.ts';
import { etcdAdvice, firstWords } from './etcd-output.ts';
import {
  type EtcdContents,
  lastOutput,
  memberName,
  ownArguments,
  peerUrl,
  runEtcd,
  socketAddress,
  untilServing,
} from './etcd-process.ts';
import { dataOf, isThere, isUnfinished } from './first-data.ts';

export interface TakeOverOptions {
  /** The etcd that is to serve, and that implements `restore` (config/etcd/main.go). */
  readonly binary: string;
  /** Path of an etcd that reads the existing data, if they are from an earlier one. */
  readonly earlierBinary: string;
  readonly dataDir: string;
  /** Open handle of `dataDir`. */
  readonly directory: FileHandle;
  /** Resolves to the command that mends damaged data, for the advice to the administrator. */
  readonly mending?: () => Promise<string>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export const formatOf = (dataDir: string) => path.join(dataDir, 'format');
const databaseOf = (data: string) => path.join(data, 'member/snap/db');
const newOf = (dataDir: string) => path.join(dataDir, 'data.new');
const readyOf = (dataDir: string) => path.join(dataDir, 'data.ready');

/** Timeout in milliseconds; a database of 2 GiB on a slow disk is read and written within it. */
const limitMs = 300_000;
const stopMs = 60_000;

/**
 * Returns the arguments of the processes that a killed take-over may have left, and of any etcd on these
 * data.
 */
export function leftoverArguments(dataDir: string): readonly (readonly [string, string])[] {
  return [ownArguments(dataOf(dataDir)), ownArguments(newOf(dataDir)), ['restore', newOf(dataDir)]];
}

/**
 * Records that this etcd reads `data`, wherever it is moved to. Must be called before anything that it made
 * is kept.
 */
export async function markFormat(dataDir: string, data = dataOf(dataDir)): Promise<void> {
  await replaceFile(formatOf(dataDir), await identity(data), { mode: 0o600 });
}

async function isMarked(dataDir: string): Promise<boolean> {
  const marked = await readFile(formatOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return marked === (await identity(dataOf(dataDir)));
}

/**
 * Identifies a directory. A file system may reuse the inode number of a removed directory, so its creation
 * time counts as well.
 */
async function identity(directory: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(directory, { bigint: true });
  return `inode ${ino} made ${birthtimeNs}\n`;
}

/**
 * Rejects if a part of the data is lost: etcd, or a take-over, would begin anew, empty. Data that have never
 * served, or that a take-over is about to replace, may be incomplete.
 */
export async function requireAllParts({
  dataDir,
  mending,
}: Pick<TakeOverOptions, 'dataDir' | 'mending'>): Promise<void> {
  if ((await isUnfinished(dataDir)) || (await isThere(readyOf(dataDir)))) return;
  const data = dataOf(dataDir);
  const line = lostPart(await readParts(data, await isThere(formatOf(dataDir))));
  if (line !== undefined) throw new Error(etcdAdvice({ line, trouble: 'damaged' }, data, await mending?.()));
}

/**
 * Takes over the data; does nothing unless they are from an earlier etcd. Rejects with one line that says
 * what to do if they cannot be taken over, and leaves them as they were; also rejects with the signal's
 * reason.
 */
export async function takeOverData(options: TakeOverOptions): Promise<void> {
  const { dataDir, log } = options;
  const data = dataOf(dataDir);
  const isMountPoint = await removeIfEmpty(data);
  if (!(await isThere(data)) && (await isThere(readyOf(dataDir)))) return void (await changePlaces(options));
  if ((await isUnfinished(dataDir)) || !(await isThere(data)) || (await isMarked(dataDir))) return;
  if (isMountPoint && !(await isThere(databaseOf(data)))) throw cannotBeMountPoint(dataDir);
  if (await isOurs(options)) return markFormat(dataDir);
  const version = await earlierVersion(options);
  if (isMountPoint) throw cannotBeMountPoint(dataDir);
  log.info('taking over the data of an earlier etcd', { version });
  await copyOrRemove(options, version);
  const kept = [await changePlaces(options), options.earlierBinary].filter(Boolean).join(' and ');
  log.info('took over the data of the earlier etcd; its own copy is kept, and may be deleted', { kept });
}

/** Copies the data; removes the copy if that fails. */
async function copyOrRemove(options: TakeOverOptions, version: string): Promise<void> {
  const { dataDir, signal } = options;
  try {
    await copyData(options);
  } catch (error) {
    for (const copy of [newOf(dataDir), readyOf(dataDir)]) await rm(copy, { recursive: true, force: true });
    signal.throwIfAborted();
    const why = `the data of etcd ${version} in ${dataOf(dataDir)} were not taken over and are as they were`;
    throw new Error(why, { cause: error });
  }
}

/**
 * Removes `data` if it is empty, so that a directory made by hand does not count as damaged data. Resolves to
 * true if it is a mount point, which the kernel reports before it checks the content.
 */
function removeIfEmpty(data: string): Promise<boolean> {
  return rmdir(data).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'EBUSY',
  );
}

/** Returns the error for a mount point, which can be neither renamed nor removed. */
function cannotBeMountPoint(dataDir: string): Error {
  const data = dataOf(dataDir);
  return new Error(
    `${data} is a mount point, and etcd has to begin with a directory of its own there: stop minik8s, unmount ${data} ` +
      `and copy what the disk holds into the directory ${data}; ` +
      `for a disk of its own, mount it at ${dataDir}, with everything that is in there now`,
  );
}

/**
 * Returns whether etcd 3.6 or newer wrote the data, which this etcd reads. Earlier versions write no version
 * into the database.
 */
async function isOurs({ binary, dataDir, mending, signal }: TakeOverOptions): Promise<boolean> {
  const database = databaseOf(dataOf(dataDir));
  try {
    const { stdout } = await systemExec(binary, ['storage-version', database], { signal, env: {} });
    return stdout.trim() !== '';
  } catch (error) {
    signal.throwIfAborted();
    const line = inShort(error);
    throw new Error(etcdAdvice({ line, trouble: 'damaged' }, dataOf(dataDir), await mending?.()));
  }
}

/** Returns what the program wrote, without its command line. */
const inShort = (error: unknown): string =>
  (error instanceof ExecError && firstWords(error.failure.stderr)) || errorMessage(error);

async function earlierVersion({ earlierBinary, dataDir, signal }: TakeOverOptions): Promise<string> {
  const data = dataOf(dataDir);
  await access(earlierBinary, constants.X_OK).catch((error: NodeJS.ErrnoException) => {
    const missing = error.code === 'ENOENT';
    throw new Error(
      `the data of etcd in ${data} are of an earlier version, and ${earlierBinary}, which reads them, ` +
        `${missing ? 'is not there' : 'cannot be run'}: ` +
        `put an etcd 3.4 or 3.5 there (of Debian 12: apt-get install etcd-server, cp /usr/bin/etcd ${earlierBinary}), ` +
        `or run minik8s reset, which removes the cluster with all its objects`,
      missing ? undefined : { cause: error },
    );
  });
  const { stdout } = await systemExec(earlierBinary, ['--version'], { signal, env: {} });
  return /^etcd Version: (\S+)$/m.exec(stdout)?.[1] ?? 'of an unknown version';
}

/** Makes `data.ready` from the existing data. */
async function copyData(options: TakeOverOptions): Promise<void> {
  const { binary, earlierBinary, dataDir, clock, signal } = options;
  const [data, copy, ready] = [dataOf(dataDir), newOf(dataDir), readyOf(dataDir)];
  for (const leftover of [copy, ready]) await rm(leftover, { recursive: true, force: true });
  const before = await serveOnce(options, earlierBinary, data);
  const token = String(clock.now());
  await systemExec(binary, ['restore', databaseOf(data), copy, memberName, peerUrl, token], {
    signal,
    env: {},
    lengthy: true,
  });
  const after = await serveOnce(options, binary, copy);
  if (before.revision !== after.revision || before.keys !== after.keys) {
    const [had, has] = [before, after].map(({ revision, keys }) => `${keys} keys at revision ${revision}`);
    throw new Error(`the copy has ${has}, not ${had}`);
  }
  await syncTree(copy);
  await rename(copy, ready);
}

/**
 * Starts etcd on the data, waits until it answers, and ends it, so that all of its log is in its database.
 */
export async function serveOnce(
  options: Pick<TakeOverOptions, 'dataDir' | 'directory' | 'clock' | 'signal'>,
  binary: string,
  data: string,
  forcesNewCluster = false,
): Promise<EtcdContents> {
  const { dataDir, directory, clock, signal } = options;
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const running = runEtcd({ binary, dataDir, data, stopMs, forcesNewCluster, clock }, ended, () => undefined);
  const died = running.then(async (outcome) => {
    const end = await lastOutput(dataDir);
    throw new Error(etcdAdvice(end, data) ?? `${binary} ended: ${outcome}: ${end.line}`);
  });
  died.catch(() => undefined);
  const socketPath = socketAddress(dataDir, directory.fd);
  let contents: EtcdContents;
  try {
    contents = await Promise.race([untilServing({ socketPath, clock, limitMs, signal: ended }), died]);
  } finally {
    stopping.abort();
    await running;
  }
  const outcome = await running;
  if (outcome.includes('SIGKILL')) throw new Error(`${binary} did not end within ${stopMs / 1000} s`);
  return contents;
}

/** Syncs a directory to disk, so that it survives a power failure. */
export async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory()) await syncTree(place);
    else await syncOne(place);
  }
  await syncOne(directory);
}

async function syncOne(place: string): Promise<void> {
  await using handle = await open(place, 'r');
  await handle.sync();
}

/**
 * Returns an unused name for the earlier data, beside the data of other take-overs, which may be the only
 * copy.
 */
async function freeName(dataDir: string): Promise<string> {
  const wanted = path.join(dataDir, 'data.earlier');
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}.${n}`;
    if (!(await isThere(name))) return name;
  }
}

/**
 * Replaces the data by the copy. Each step is on disk before the next, so an interrupted replacement
 * continues at the next start. Resolves to the path of the earlier data; undefined if a previous start has
 * moved them.
 */
async function changePlaces({ dataDir, directory }: TakeOverOptions): Promise<string | undefined> {
  const [data, ready] = [dataOf(dataDir), readyOf(dataDir)];
  await directory.sync();
  const kept = (await isThere(data)) ? await freeName(dataDir) : undefined;
  if (kept !== undefined) await rename(data, kept);
  await directory.sync();
  await markFormat(dataDir, ready);
  await rename(ready, data);
  await directory.sync();
  return kept;
}
