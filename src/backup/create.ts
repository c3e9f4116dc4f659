/** Creation of a backup from a running master, or from the data of a stopped one. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Random, randomName } from '../base/random.ts';
import { rfc3339 } from '../base/time.ts';
import { version } from '../base/version.ts';
import type { Exec } from '../os/exec.ts';
import { isDraft } from '../os/replace-file.ts';
import type { MemberRpc } from '../storage/etcd-rpc.ts';
import { writeArchive } from './archive.ts';
import { diskOf } from './disk.ts';
import {
  backupFileName,
  backupFormat,
  configFolder,
  databaseName,
  isMemberName,
  type Manifest,
  type Member,
  neededMembers,
  pkiFolder,
} from './manifest.ts';
import { withScratch } from './scratch.ts';
import { databaseStatus, saveSnapshot } from './snapshot.ts';
import type { BackupStore } from './store.ts';

export interface CreateOptions {
  /** Data directory of the master. */
  readonly dataDir: string;
  /** Configuration file of the master; left out if it does not exist. */
  readonly configFile: string;
  readonly store: BackupStore;
  /** Encrypts the backup; undefined: it is not encrypted. */
  readonly passphrase: string | undefined;
  /** The member of etcd with the cluster's objects. */
  readonly member: Pick<MemberRpc, 'snapshot'>;
  /** The embedded etcd (config/etcd/main.go). */
  readonly etcdBinary: string;
  readonly exec: Exec;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Makes the name differ from that of another backup of the same second. */
  readonly random: Random;
  readonly signal?: AbortSignal;
}

export interface Created {
  /** Path of the file, or location of the object. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  readonly manifest: Manifest;
}

/** Creates a backup. Resolves when it is stored; on failure nothing of it is left. */
export async function createBackup(options: CreateOptions): Promise<Created> {
  const { dataDir, store, passphrase, member, etcdBinary, exec, now, random, signal } = options;
  await store.prepare(signal);
  // The database has secrets, so the copy of it that is not encrypted stays beside the original.
  return withScratch(dataDir, async (scratch) => {
    const database = join(scratch, databaseName);
    const disk = diskOf(scratch);
    const snapshot = await saveSnapshot(member, database, { disk, ...(signal && { signal }) });
    const { revision, keys } = await databaseStatus(exec, etcdBinary, database, signal);
    const files = new Map([[databaseName, database]]);
    const members: Record<string, Member> = { [databaseName]: snapshot };
    for (const [name, path] of await otherFiles(options)) {
      // A copy: certificates are renewed while the database is compressed.
      const copy = join(scratch, name.replaceAll('/', '-'));
      await copyFile(path, copy);
      files.set(name, copy);
      members[name] = await measured(copy);
    }
    for (const name of neededMembers)
      if (!files.has(name)) throw new Error(`${join(dataDir, name)} is missing: nothing was backed up`);
    const created = rfc3339(now);
    const host = hostname();
    const about = { format: backupFormat, minik8s: version(), created, host, revision, keys } as const;
    const manifest: Manifest = { ...about, members };
    const name = backupFileName(created, randomName(random, 5), passphrase !== undefined);
    const write = async (path: string) => {
      const folder = dirname(path);
      const isSame = (await stat(folder)).dev === (await stat(dataDir)).dev;
      const more = { ...(isSame && { disk: diskOf(folder) }), ...(signal && { signal }) };
      return writeArchive(path, { manifest, files }, passphrase, more);
    };
    const size = await store.add(name, { write, scratch, ...(signal && { signal }) });
    return { path: store.pathOf(name), size, manifest };
  });
}

/** Returns the files of the authority and the configuration, by the names of their members. */
async function otherFiles({
  dataDir,
  configFile,
}: Pick<CreateOptions, 'dataDir' | 'configFile'>): Promise<readonly (readonly [string, string])[]> {
  const pki = join(dataDir, 'pki');
  const names = (await readdir(pki)).filter((name) => !isDraft(name));
  const own = names.map((name) => [`${pkiFolder}${name}`, join(pki, name)] as const);
  const all = [...own, [`${configFolder}master.yaml`, configFile] as const].filter(([name]) =>
    isMemberName(name),
  );
  const there = await Promise.all(all.map(([, path]) => isFile(path)));
  return all.filter((_, index) => there[index]);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function measured(path: string): Promise<Member> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { size: (await stat(path)).size, sha256: hash.digest('hex') };
}
