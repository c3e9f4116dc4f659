/** The current usage of this machine, from /proc, cgroups (v1 and v2) and the file systems. */
import { readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../usage/kernel-text.ts';
import { inactiveFileBytes, memoryInfo, memoryLimit } from '../usage/plan/kernel-files.ts';
import type { FileSystemUsage, NodeUsage } from './plan/eviction-thresholds.ts';

export interface NodeUsageOptions {
  /** Directory that contains /proc and /sys: '/' except in tests. */
  readonly root?: string;
  /** The data directory of the agent. */
  readonly dataDir: string;
  /** Directory of the container engine; undefined while it is not known. */
  readonly engineDir: string | undefined;
}

/** Reads the usage. Rejects when the kernel's files are missing or cannot be parsed. */
export async function readNodeUsage({
  root = '/',
  dataDir,
  engineDir,
}: NodeUsageOptions): Promise<NodeUsage> {
  const [memory, nodefs, imagefs, pids] = await Promise.all([
    readMemory(root),
    fileSystemUsage(dataDir),
    engineDir === undefined ? undefined : otherFileSystem(dataDir, engineDir),
    readProcesses(root),
  ]);
  return { memory, nodefs, imagefs, pids };
}

/** Returns the memory limit of the cgroup around this machine, in bytes; undefined when there is none. */
export async function readMemoryLimit(root = '/'): Promise<number | undefined> {
  return (await readLimitedMemory(root))?.size;
}

async function readMemory(root: string): Promise<NodeUsage['memory']> {
  const machine = memoryInfo(await readFile(join(root, 'proc/meminfo'), 'utf8'));
  const limited = await readLimitedMemory(root);
  if (!limited || limited.size >= machine.size) return machine;
  return { size: limited.size, available: Math.min(machine.available, limited.available) };
}

/**
 * Reads the root cgroup that this process sees. Inside a container it is the container's cgroup, which has a
 * limit.
 */
async function readLimitedMemory(root: string): Promise<NodeUsage['memory'] | undefined> {
  for (const { directory, limit } of [
    { directory: 'sys/fs/cgroup', limit: 'memory.max' },
    { directory: 'sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  ]) {
    const size = memoryLimit((await readIfThere(join(root, directory, limit))) ?? '');
    if (size === undefined) continue;
    const used = await workingSet(join(root, directory));
    if (used !== undefined) return { size, available: Math.max(0, size - used) };
  }
  return undefined;
}

/**
 * Returns the bytes in use that the kernel cannot reclaim at once; undefined when there is no such cgroup.
 */
async function workingSet(directory: string): Promise<number | undefined> {
  const current =
    (await readIfThere(join(directory, 'memory.current'))) ??
    (await readIfThere(join(directory, 'memory.usage_in_bytes')));
  if (current === undefined) return undefined;
  const statistics = (await readIfThere(join(directory, 'memory.stat'))) ?? '';
  return Math.max(0, Number(current) - inactiveFileBytes(statistics));
}

async function readProcesses(root: string): Promise<NodeUsage['pids']> {
  const [most, threads, load] = await Promise.all(
    ['sys/kernel/pid_max', 'sys/kernel/threads-max', 'loadavg'].map((name) =>
      readFile(join(root, 'proc', name), 'utf8'),
    ),
  );
  const size = Math.min(Number(most), Number(threads));
  // The fourth field is `running/all`, counted in threads, as pid_max is.
  const all = Number(/\/(\d+)/.exec(load ?? '')?.[1]);
  if (!Number.isFinite(size) || !Number.isFinite(all)) throw new Error('/proc/loadavg cannot be parsed');
  return { size, available: Math.max(0, size - all) };
}

async function fileSystemUsage(path: string): Promise<FileSystemUsage> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(path);
  return { size: blocks * bsize, available: bavail * bsize, inodes: files, inodesFree: ffree };
}

/** Returns undefined when it is the same file system, or not visible to this process. */
async function otherFileSystem(dataDir: string, engineDir: string): Promise<FileSystemUsage | undefined> {
  try {
    const [mine, theirs] = await Promise.all([stat(dataDir), stat(engineDir)]);
    return mine.dev === theirs.dev ? undefined : await fileSystemUsage(engineDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
