/** Resource usage of this process, from the kernel. */
import { readdir, readFile } from 'node:fs/promises';
import { machineStat, processUsage } from '../usage/plan/machine-files.ts';
import type { OwnProcess } from './plan/process-metrics.ts';

/** Reads the usage. Rejects when the kernel's files are missing or cannot be parsed. */
export async function readOwnProcess(): Promise<OwnProcess> {
  const [stat, machine, files, limits] = await Promise.all([
    readFile('/proc/self/stat', 'utf8'),
    readFile('/proc/stat', 'utf8'),
    readdir('/proc/self/fd'),
    readFile('/proc/self/limits', 'utf8'),
  ]);
  const [, maxFiles] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return {
    ...processUsage(stat, machineStat(machine).bootedAt),
    openFiles: files.length,
    maxFiles: maxFiles === undefined ? undefined : Number(maxFiles),
  };
}
