/** The command that repairs damaged data of the embedded etcd, for the one-line error of a failed start. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileName } from '../../backup/manifest.ts';
import { isBucketLocation } from '../../backup/s3/location.ts';
import { databaseStatus } from '../../backup/snapshot.ts';
import type { Exec } from '../../os/exec.ts';
import { DamagedAuthorityError } from '../../pki/credentials.ts';
import { type Settings, settingTable } from '../settings/setting-table.ts';

export interface MendingFacts {
  readonly dataDir: string;
  readonly backupDir: string;
  /** Names of the files in the directory of the backups. */
  readonly backups: readonly string[];
  /** True if every object in the database of etcd can be read. */
  readonly isDatabaseWhole: boolean;
}

/**
 * Returns the commands, with what is lost. A readable database lacks only the last moments before the damage,
 * so its backup is the first choice; the latest backup is the second. Without either, only an empty cluster
 * is left.
 */
export function mendingText({ dataDir, backupDir, backups, isDatabaseWhole }: MendingFacts): string {
  const directory = directoryFlag(dataDir);
  if (isDatabaseWhole)
    return (
      `its database can be read, so only the last changes may be lost: stop minik8s, run minik8s backup create --from-database${directory}, ` +
      `then minik8s backup restore --replace${directory} with the file that it names`
    );
  if (isBucketLocation(backupDir))
    return (
      `stop minik8s, and run minik8s backup restore --replace${directory} with the latest backup in ${backupDir}, ` +
      'which minik8s backup list names; changes after it are lost'
    );
  const latest = latestOf(backups);
  if (latest === undefined)
    return (
      `there is no backup in ${backupDir}: stop minik8s, and run minik8s backup restore --replace${directory} with a backup from elsewhere; ` +
      `without one, minik8s reset${directory} removes the cluster with all its objects, and a new one can start`
    );
  return (
    `stop minik8s, and run minik8s backup restore --replace${directory}${latest.passphrase} ${join(backupDir, latest.name)} ` +
    `(the latest backup; changes after ${latest.created} are lost)`
  );
}

const directoryFlag = (dataDir: string): string =>
  dataDir === settingTable['data-dir'].default ? '' : ` --data-dir ${dataDir}`;

function latestOf(names: readonly string[]) {
  const backups = names.flatMap((name) => {
    const about = readFileName(name);
    return about ? [{ name, ...about, passphrase: about.isEncrypted ? ' --passphrase-file FILE' : '' }] : [];
  });
  return backups.toSorted((a, b) => (a.created < b.created ? -1 : 1)).at(-1);
}

/**
 * Returns the message for a damaged authority, with the command that restores it alone; undefined if there is
 * no backup.
 */
export function authorityText(
  what: string,
  { dataDir, backupDir, backups }: Omit<MendingFacts, 'isDatabaseWhole'>,
): string | undefined {
  const latest = latestOf(backups);
  if (latest === undefined) return undefined;
  return (
    `${what}: run minik8s backup restore --only-pki --replace${directoryFlag(dataDir)}${latest.passphrase} ${join(backupDir, latest.name)} ` +
    `(the latest backup, of ${latest.created}), which keeps the objects of the cluster`
  );
}

export interface MendingSources {
  readonly dataDir: string;
  readonly backupDir: string;
  /** Path of the embedded etcd. */
  readonly etcdBinary: string;
  readonly exec: Exec;
}

/** Reads the facts, and resolves to the commands. No etcd may run on the data. */
export async function mendingOf({ dataDir, backupDir, etcdBinary, exec }: MendingSources): Promise<string> {
  const status = databaseStatus(exec, etcdBinary, databaseOf(dataDir));
  const isDatabaseWhole = await status.then(
    ({ keys }) => keys > 0,
    () => false,
  );
  const backups = await namesIn(backupDir);
  return mendingText({ dataDir, backupDir, backups, isDatabaseWhole });
}

/** A directory that cannot be read counts as one without backups. */
const namesIn = (backupDir: string): Promise<readonly string[]> => readdir(backupDir).catch(() => []);

/** Replaces an error about a damaged authority by one that names the latest backup. */
export async function withBackup(
  error: unknown,
  { 'data-dir': dataDir, 'backup-dir': backupDir }: Settings<'data-dir' | 'backup-dir'>,
): Promise<unknown> {
  if (!(error instanceof DamagedAuthorityError)) return error;
  const text = authorityText(error.what, { dataDir, backupDir, backups: await namesIn(backupDir) });
  return text === undefined ? error : new Error(text);
}

/** Returns the path of the database of the embedded etcd. */
export const databaseOf = (dataDir: string): string => join(dataDir, 'etcd/data/member/snap/db');
