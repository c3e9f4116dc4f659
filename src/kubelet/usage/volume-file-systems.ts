/**
 * Usage of the file systems of volumes. A file system that another machine serves is measured by a separate
 * program: while its server is unreachable, the call does not return, and would block a thread of this
 * process.
 */
import { statfs } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Exec } from '../../os/exec.ts';

export interface FileSystemUsage {
  readonly size: number;
  readonly available: number;
  readonly free: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

export interface VolumeFileSystemsOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
}

const timeoutMs = 2_000;
/** Time after a timeout in which a file system is not measured again. */
const retryMs = 60_000;

export class VolumeFileSystems {
  readonly #options: VolumeFileSystemsOptions;
  /** Monotonic times at which file systems are measured again, by path. */
  readonly #retryAt = new Map<string, number>();

  constructor(options: VolumeFileSystemsOptions) {
    this.#options = options;
  }

  /**
   * Returns the usage at a path; undefined when the path does not exist, or its server does not answer.
   * `served` are the mount points whose files another machine or process serves.
   */
  async usage(path: string, served: readonly string[]): Promise<FileSystemUsage | undefined> {
    if (served.some((point) => path === point || path.startsWith(`${point}/`))) return this.#byProgram(path);
    try {
      const { blocks, bavail, bfree, bsize, files, ffree } = await statfs(path);
      return usageOf(bsize, [blocks, bavail, bfree, files, ffree]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #byProgram(path: string): Promise<FileSystemUsage | undefined> {
    const { exec, clock, log } = this.#options;
    const now = clock.monotonic();
    if (now < (this.#retryAt.get(path) ?? now)) return undefined;
    this.#retryAt.delete(path);
    const args = ['--file-system', '--format=%S %b %a %f %c %d', '--', path];
    try {
      const { stdout } = await exec('stat', args, { timeoutMs });
      const [blockSize = 0, ...counts] = stdout.trim().split(' ').map(Number);
      return usageOf(blockSize, counts);
    } catch (error) {
      this.#retryAt.set(path, now + retryMs);
      log.debug('cannot measure the file system of a volume', { path, error: errorMessage(error) });
      return undefined;
    }
  }

  /** Removes the retry times of all other paths. */
  keep(paths: ReadonlySet<string>): void {
    for (const path of this.#retryAt.keys()) if (!paths.has(path)) this.#retryAt.delete(path);
  }
}

/** `counts` are blocks, available blocks, free blocks, inodes and free inodes. */
function usageOf(blockSize: number, counts: readonly number[]): FileSystemUsage {
  const [blocks = 0, available = 0, free = 0, inodes = 0, inodesFree = 0] = counts;
  const bytes = { size: blocks * blockSize, available: available * blockSize, free: free * blockSize };
  return { ...bytes, inodes, inodesFree };
}
