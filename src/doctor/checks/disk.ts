/** Checks of disks. Pure. */
import { type Check, fault, note, type Observation, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface Disk {
  /** Directory that was examined. */
  readonly path: string;
  /** Use of the directory in messages. */
  readonly what: 'data' | 'etcd' | 'images';
  readonly bytes: { readonly free: number; readonly size: number };
  /** File systems without a fixed number of inodes report 0. */
  readonly inodes: { readonly free: number; readonly size: number };
}

export interface DiskFacts {
  readonly disks: readonly Disk[];
  /** Milliseconds of writes that were synchronised to etcd's disk; absent if none was made. */
  readonly syncs?: readonly number[];
}

/** etcd allocates its log in files of 64 MB, and needs room for the next one. */
const minBytes = 256 * 2 ** 20;
/** Shares below which the node evicts pods: of images, and of everything else. */
const evictionShare = { images: 0.15, data: 0.1, etcd: 0.1 } as const;
const fullShare = 0.05;

/** Slowest synchronised write in milliseconds with which etcd works well, and with which it works. */
const goodSyncMs = 10;
const usableSyncMs = 100;

export const diskChecks: readonly Check<DiskFacts, Situation>[] = [
  { name: 'disk-space', find: ({ disks }) => disks.map(spaceOn) },
  { name: 'disk-inodes', find: ({ disks }) => disks.filter(({ inodes }) => inodes.size > 0).map(inodesOn) },
  {
    name: 'disk-sync',
    find({ syncs }) {
      if (!syncs || syncs.length === 0) return [];
      const slowest = Math.max(...syncs);
      const found = `the slowest of ${syncs.length} synchronised writes took ${slowest.toFixed(1)} ms`;
      if (slowest <= goodSyncMs) return [ok(found)];
      const why = 'etcd acknowledges a write only once it is on the disk';
      const move = 'minik8s up --data-dir DIRECTORY uses a faster disk';
      return [slowest <= usableSyncMs ? note(found, why) : warning(found, `${why}; ${move}`)];
    },
  },
];

function spaceOn({ path, what, bytes }: Disk): Observation {
  const share = bytes.free / bytes.size;
  const found = `${path} (${what}) has ${megabytes(bytes.free)} of ${megabytes(bytes.size)} free`;
  if (share < fullShare || bytes.free < minBytes) return fault(found, whyOf(what), roomOn(path, what));
  if (share < evictionShare[what]) return warning(found, 'the node evicts pods', roomOn(path, what));
  return ok(found);
}

function inodesOn({ path, what, inodes }: Disk): Observation {
  const found = `${path} (${what}) has ${inodes.free} of ${inodes.size} inodes free`;
  return inodes.free / inodes.size < fullShare ? fault(found, whyOf(what), roomOn(path, what)) : ok(found);
}

const whyOf = (what: Disk['what']): string =>
  what === 'images'
    ? 'no image can be pulled, and the node evicts pods'
    : 'nothing can be stored once it is full';

/** Returns the command that frees space: unused images can be pulled again, anything else is only listed. */
const roomOn = (path: string, what: Disk['what']): string =>
  what === 'images'
    ? 'docker system prune --all --force'
    : `find ${path} -xdev -type f -size +10M -exec ls -lS {} +`;

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1e6)} MB`;
