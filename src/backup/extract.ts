/** The members of a backup as files, and their database as the data of an etcd. */
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Exec } from '../os/exec.ts';
import { memberName, peerUrl } from '../storage/etcd-process.ts';
import { dataOf } from '../storage/first-data.ts';
import { markFormat } from '../storage/take-over.ts';
import { readArchive, type TakeMember } from './archive.ts';
import { contentBytes, requireRoom } from './archive-limits.ts';
import { diskOf } from './disk.ts';
import { configFolder, damaged, databaseName, type Manifest, pkiFolder } from './manifest.ts';
import { databaseStatus } from './snapshot.ts';
import type { BackupSource } from './source.ts';

export interface ExtractOptions {
  readonly source: BackupSource;
  readonly passphrase: string | undefined;
  /** Existing empty directory, to which the folders `pki`, `config` and `etcd` are added. */
  readonly into: string;
  /** The embedded etcd (config/etcd/main.go). */
  readonly etcdBinary: string;
  readonly exec: Exec;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly signal?: AbortSignal;
}

/** Maximum numbers of writes of a cluster: in a second, and since a backup. */
const [maxWritesPerSecond, maxWritesSince] = [100_000, 1_000_000_000];

/**
 * Returns the revision after which a restored cluster continues: above that of every write since the backup,
 * also of those after an earlier restoration.
 */
export const leastRevision = (revision: number, nowMs: number): number =>
  Math.max(revision + maxWritesSince, Math.floor(nowMs / 1000) * maxWritesPerSecond);

/**
 * Extracts a backup. The folder `etcd` is then one for an embedded etcd, whose revisions continue far above
 * those of the backup. Rejects with BackupError if the backup cannot be used.
 */
export async function extractBackup(options: ExtractOptions): Promise<Manifest> {
  const { source, passphrase, into, etcdBinary, exec, now, signal } = options;
  const stopped = signal ? { signal } : {};
  const database = join(into, databaseName);
  const begin = async ({ members }: Manifest): Promise<TakeMember> => {
    // The data of etcd are a copy of the database.
    await requireRoom(diskOf(into), contentBytes(members) + (members[databaseName]?.size ?? 0));
    for (const folder of [pkiFolder, configFolder]) await mkdir(join(into, folder), { mode: 0o700 });
    return (name, content) =>
      pipeline(content, createWriteStream(join(into, name), { flags: 'wx', mode: 0o600 }));
  };
  const manifest = await readArchive(source, passphrase, begin, signal);
  const { revision, keys } = await databaseStatus(exec, etcdBinary, database, signal).catch((cause) => {
    signal?.throwIfAborted();
    throw damaged(`its database cannot be read (${(cause as Error).message})`);
  });
  if (revision !== manifest.revision || keys !== manifest.keys)
    throw damaged(
      `its database has ${keys} keys at revision ${revision}, not ${manifest.keys} at ${manifest.revision}`,
    );
  const etcd = join(into, 'etcd');
  await mkdir(etcd, { mode: 0o700 });
  const least = String(leastRevision(revision, now));
  const args = ['restore-backup', database, dataOf(etcd), memberName, peerUrl, String(now), least];
  await exec(etcdBinary, args, { env: {}, lengthy: true, ...stopped });
  await rm(database);
  // A young database does not name the version of etcd that wrote it yet.
  await markFormat(etcd);
  return manifest;
}
