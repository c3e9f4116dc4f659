/** A master's data directory in a temporary folder, with an etcd that is simulated: no process is started. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateOptions, createBackup } from '../../../src/backup/create.ts';
import { type RestoreOptions, restoreBackup } from '../../../src/backup/restore.ts';
import { fileSource } from '../../../src/backup/source.ts';
import { folderStore } from '../../../src/backup/store.ts';
import type { Exec } from '../../../src/os/exec.ts';

export const now = Date.UTC(2026, 10, 29, 9, 17, 29);
export const database = Buffer.from('the database of etcd\n'.repeat(100));

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest();

export interface BackupWorld {
  readonly directory: string;
  /** Content of the database in numbers, as etcd reports it; a test may change it. */
  readonly status: { revision: number; keys: number; version: string };
  /** Words of each call of the embedded etcd. */
  readonly calls: (readonly string[])[];
  /** Creates a data directory with an authority. */
  makeData(name: string, authority: string): string;
  create(dataDir: string, more?: Partial<CreateOptions>): ReturnType<typeof createBackup>;
  restore(path: string, dataDir: string, more?: Partial<RestoreOptions>): ReturnType<typeof restoreBackup>;
  remove(): void;
}

export function backupWorld(): BackupWorld {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-backup-'));
  const status = { revision: 42, keys: 3, version: '3.7.0' };
  const calls: (readonly string[])[] = [];
  const exec: Exec = async (_, args) => {
    calls.push(args);
    const [verb, from = '', data = ''] = args;
    if (verb === 'database-status') return { stdout: JSON.stringify(status), stderr: '' };
    mkdirSync(join(data, 'member/snap'), { recursive: true });
    copyFileSync(from, join(data, 'member/snap/db'));
    return { stdout: '', stderr: '' };
  };
  const member = {
    async *snapshot() {
      yield Buffer.concat([database, sha256(database)]);
    },
  };
  const etcd = { etcdBinary: '/etcd', exec, now } as const;
  const store = folderStore(join(directory, 'backups'));
  return {
    directory,
    status,
    calls,
    makeData(name, authority) {
      const dataDir = join(directory, name);
      mkdirSync(join(dataDir, 'pki'), { recursive: true });
      mkdirSync(join(dataDir, 'etcd/data'), { recursive: true });
      writeFileSync(join(dataDir, 'etcd/data/of'), authority);
      for (const file of ['ca.crt', 'ca.key'])
        writeFileSync(join(dataDir, 'pki', file), `${authority} ${file}`);
      return dataDir;
    },
    create: (dataDir, more) =>
      createBackup({
        ...{ dataDir, store, member, passphrase: undefined, ...etcd },
        random: { next: () => 0, uuid: () => '' },
        configFile: join(dataDir, 'master.yaml'),
        ...more,
      }),
    restore: (path, dataDir, more) =>
      restoreBackup({
        ...{ source: fileSource(path), passphrase: undefined, dataDir, replaces: false, ...etcd },
        configDirectory: join(dataDir, 'configuration'),
        ...more,
      }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Names in a directory, sorted. */
export const namesIn = (path: string): readonly string[] => readdirSync(path).sort();
