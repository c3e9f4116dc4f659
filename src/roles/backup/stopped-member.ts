/** The database of a master that is stopped, or does not start, in the form of a member of etcd. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { openDataDirectory } from '../data-directory.ts';
import { databaseOf } from '../master/mending.ts';
import type { BackedUpMember } from './member.ts';

/**
 * Locks the data directory until the member is closed. Rejects if minik8s runs in it, or if it has no
 * database.
 */
export async function stoppedMember(dataDir: string): Promise<BackedUpMember> {
  const path = databaseOf(dataDir);
  await stat(path).catch(() => {
    throw new Error(
      `there is no database of an embedded etcd in ${dataDir}: give the --data-dir of the master`,
    );
  });
  const directory = await openDataDirectory(dataDir);
  return { snapshot: () => withDigest(path), close: () => void directory.release() };
}

/** Yields the file, and then its digest, as etcd sends a snapshot. */
async function* withDigest(path: string): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
    digest.update(part);
    yield part;
  }
  yield digest.digest();
}
