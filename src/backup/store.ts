/** Places that hold backups: a directory, or the folder of a bucket (s3/bucket-store.ts). */
import { constants } from 'node:fs';
import { access, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../base/log.ts';
import { makeFolder } from '../os/make-folder.ts';
import { readFileName } from './manifest.ts';

export interface StoredBackup {
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
}

export interface AddOptions {
  /** Writes the file of the backup to a path, and resolves to its size in bytes. */
  readonly write: (path: string) => Promise<number>;
  /** Directory for a copy, which the caller removes. */
  readonly scratch: string;
  readonly signal?: AbortSignal;
}

export interface BackupStore {
  /** Path of the directory, or location of the folder. */
  readonly path: string;
  pathOf(name: string): string;
  /** Checks that the place exists, and creates it if it can. */
  prepare(signal?: AbortSignal): Promise<void>;
  /** Returns the backups; everything else in the same place is ignored. */
  list(signal?: AbortSignal): Promise<readonly StoredBackup[]>;
  /** Stores a backup and resolves to its size in bytes; on failure nothing is left that `list` returns. */
  add(name: string, options: AddOptions): Promise<number>;
  remove(name: string, signal?: AbortSignal): Promise<void>;
}

/** Returns the directory of that path; it is created with mode 0700. */
export const folderStore = (path: string): BackupStore => ({
  path,
  pathOf: (name) => join(path, name),
  async prepare() {
    try {
      makeFolder(path);
      await access(path, constants.W_OK | constants.X_OK);
    } catch (error) {
      throw new Error(
        `backups cannot be written to ${path} (${errorMessage(error)}): make it writable, or give another directory`,
        { cause: error },
      );
    }
  },
  async list() {
    const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new Error(
        `the backups in ${path} cannot be listed (${errorMessage(error)}): give the directory of the backups`,
        { cause: error },
      );
    });
    const sized = names
      .filter((name) => readFileName(name))
      .map(async (name) => ({ name, size: await sizeOf(join(path, name)) }));
    return (await Promise.all(sized)).flatMap(({ name, size }) =>
      size === undefined ? [] : [{ name, size }],
    );
  },
  add: (name, { write }) => write(join(path, name)),
  remove: (name) => rm(join(path, name), { force: true }),
});

/** Returns undefined for a file that was removed meanwhile, and for what is no file. */
const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (stats) => (stats.isFile() ? stats.size : undefined),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
