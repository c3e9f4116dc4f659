/**
 * The data of an etcd whose first start was interrupted. etcd creates its log first and adds itself as a
 * member a little later; if it is killed in between, it may find a log without any member on every later
 * start and wait for a leader forever (3.4 does). Such data contain no objects: a marker file beside them
 * exists until etcd has served once.
 */
import { access, type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';

const markerOf = (dataDir: string) => path.join(dataDir, 'unfinished');

/** Returns the data directory of etcd. */
export const dataOf = (dataDir: string) => path.join(dataDir, 'data');

/** Prepares a start: removes the data of an etcd that never served, and marks new data as unfinished. */
export async function prepareData(dataDir: string, directory: FileHandle): Promise<void> {
  if (await isUnfinished(dataDir)) await rm(dataOf(dataDir), { recursive: true, force: true });
  else if (!(await isThere(dataOf(dataDir)))) {
    await (await open(markerOf(dataDir), 'w', 0o600)).close();
    await directory.sync();
  }
}

export function isUnfinished(dataDir: string): Promise<boolean> {
  return isThere(markerOf(dataDir));
}

/** Removes the marker: from now on the data are kept. Nothing may be written to etcd before. */
export async function keepData(dataDir: string, directory: FileHandle): Promise<void> {
  await rm(markerOf(dataDir), { force: true });
  // A marker that came back after a power failure would delete all that was written since.
  await directory.sync();
}

export function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
