/** Resource usage of a process, from /proc. */
import { readFileSync } from 'node:fs';

export interface Usage {
  /** Seconds of processor time so far, of all its threads. */
  readonly cpu: number;
  /** Resident memory in bytes. */
  readonly rss: number;
}

/** Returns the usage of a process. Throws if the process does not exist. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, rss: Number(rss) * 1024 };
}
