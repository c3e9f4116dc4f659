/** The command that mends damaged data of the embedded etcd, for the one line that a start ends with. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileName } from '../../backup/manifest.ts';
import { databaseStatus } from '../../backup/snapshot.ts';
import type { Exec } from '../../os/exec.ts';
import { settingTable } from '../settings/setting-table.ts';

export interface MendingFacts {
  readonly dataDir: string;
  readonly backupDir: string;
  /** Names of the files in the directory of the backups. */
  readonly backups: readonly string[];
  /** True if every object in the database of etcd can be read. */
  readonly isDatabaseWhole: boolean;
}

/**
 * Returns the commands, with what is lost. A database that is whole has everything but the last moments
 * before the damage, so a backup of it comes first; then the latest backup. Without either, only an empty
 * cluster is left.
 */
export function mendingText({ dataDir, backupDir, backups, isDatabaseWhole }: MendingFacts): string {
  const directory = dataDir === settingTable['data-dir'].default ? '' : ` --data-dir ${dataDir}`;
  if (isDatabaseWhole)
    return (
      `its database can be read, so only the last changes may be lost: stop minik8s, run minik8s backup create --from-database${directory}, ` +
      `then minik8s backup restore --replace${directory} with the file that it names`
    );
  const latest = backups
    .filter((name) => readFileName(name))
    .sort()
    .at(-1);
  if (latest === undefined)
    return (
      `there is no backup in ${backupDir}: stop minik8s, and run minik8s backup restore --replace${directory} with a backup from elsewhere; ` +
      `without one, minik8s reset${directory} removes the cluster with all its objects, and a new one can start`
    );
  const { created, isEncrypted } = readFileName(latest) ?? {};
  const passphrase = isEncrypted ? ' --passphrase-file FILE' : '';
  return (
    `stop minik8s, and run minik8s backup restore --replace${directory}${passphrase} ${join(backupDir, latest)} ` +
    `(the latest backup; changes after ${created} are lost)`
  );
}

export interface MendingSources {
  readonly dataDir: string;
  readonly backupDir: string;
  /** The etcd inside. */
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
  const backups = await readdir(backupDir).catch(() => []);
  return mendingText({ dataDir, backupDir, backups, isDatabaseWhole });
}

/** Returns the path of the database of the embedded etcd. */
export const databaseOf = (dataDir: string): string => join(dataDir, 'etcd/data/member/snap/db');
