/** Reads the free space on the disks of a node, and measures etcd's. */
import { existsSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Disk, DiskFacts } from '../checks/disk.ts';
import { imageDirectory } from './docker.ts';
import type { Sources } from './sources.ts';

/** Number and size of the writes with which a disk is measured: those of a small entry of etcd's log. */
const writes = 20;
const writeBytes = 4096;

export async function readDisk({ clock, situation, measuresDisk }: Sources): Promise<DiskFacts> {
  const { dataDir, dockerSocket, hasNode } = situation;
  const etcd = join(dataDir, 'etcd');
  const images = hasNode ? await imageDirectory(clock, dockerSocket) : undefined;
  const disks = [
    await diskAt(existing(dataDir), 'data'),
    ...(existsSync(etcd) ? [await diskAt(etcd, 'etcd')] : []),
    ...(images !== undefined && existsSync(images) ? [await diskAt(images, 'images')] : []),
  ];
  const syncs = measuresDisk && existsSync(etcd) ? await measure(clock, etcd) : undefined;
  return { disks, ...(syncs && { syncs }) };
}

/** Returns the path, or the nearest directory above it that exists. */
const existing = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : existing(dirname(path));

async function diskAt(path: string, what: Disk['what']): Promise<Disk> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(path);
  return {
    ...{ path, what },
    bytes: { free: bavail * bsize, size: blocks * bsize },
    inodes: { free: ffree, size: files },
  };
}

/**
 * Resolves to the milliseconds of each write; to undefined if the disk is full. The file has no name once it
 * is open, so nothing is left behind.
 */
async function measure(clock: Clock, directory: string): Promise<readonly number[] | undefined> {
  const path = join(directory, `.doctor-${process.pid}`);
  await using file = await open(path, 'wx', 0o600);
  await rm(path);
  const times: number[] = [];
  try {
    for (let index = 0; index < writes; index++) {
      const from = clock.monotonic();
      await file.write(Buffer.alloc(writeBytes));
      await file.datasync();
      times.push(clock.monotonic() - from);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return undefined;
  }
  return times;
}
