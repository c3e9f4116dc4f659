/** Parses the kernel's files about the whole machine and about this process. Pure. */
import { counters } from './cgroup-files.ts';

export interface MachineMemory {
  /** Bytes. */
  readonly total: number;
  readonly usage: number;
  readonly workingSet: number;
  readonly rss: number;
  readonly swapUsage: number;
  readonly swapFree: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

/** Parses /proc/meminfo and /proc/vmstat. */
export function machineMemory(meminfo: string, vmstat: string): MachineMemory {
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0) * 1024;
  const faults = counters(vmstat);
  const total = bytes('MemTotal');
  const usage = total - bytes('MemFree');
  return {
    total,
    usage,
    workingSet: Math.max(0, usage - bytes('Inactive\\(file\\)')),
    rss: bytes('AnonPages'),
    swapUsage: bytes('SwapTotal') - bytes('SwapFree'),
    swapFree: bytes('SwapFree'),
    pageFaults: faults.get('pgfault') ?? 0,
    majorPageFaults: faults.get('pgmajfault') ?? 0,
  };
}

/** Unit in which the kernel counts the time of processes (USER_HZ). */
const ticksPerSecond = 100;
const nsPerTick = 1e9 / ticksPerSecond;

/**
 * Parses /proc/stat: nanoseconds of CPU time that was not idle, and the time of the machine's start in
 * milliseconds.
 */
export function machineStat(text: string): { readonly cpu: number; readonly bootedAt: number } {
  const [, line = ''] = /^cpu\s+(.*)$/m.exec(text) ?? [];
  // The time of guests is already included in the users' time.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number);
  const bootedAt = Number(/^btime (\d+)$/m.exec(text)?.[1] ?? 0) * 1000;
  return { cpu: (user + nice + system + irq + softirq + steal) * nsPerTick, bootedAt };
}

export interface ProcessUsage {
  /** Nanoseconds. */
  readonly cpu: number;
  readonly startedAt: number;
  /** Bytes. */
  readonly resident: number;
  readonly virtual: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

/**
 * Parses /proc/PID/stat; the name of a program may contain any character, including blanks and parentheses.
 */
export function processUsage(stat: string, bootedAt: number, pageBytes = 4096): ProcessUsage {
  // Fields from the third one on.
  const field = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const of = (index: number) => Number(field[index - 3] ?? 0);
  return {
    cpu: (of(14) + of(15)) * nsPerTick,
    startedAt: bootedAt + (of(22) * 1000) / ticksPerSecond,
    resident: of(24) * pageBytes,
    virtual: of(23),
    pageFaults: of(10),
    majorPageFaults: of(12),
  };
}

/** Parses /proc/partitions: names of block devices, by `MAJOR:MINOR`. */
export const blockDevices = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, major, minor, name] = /^\s*(\d+)\s+(\d+)\s+\d+\s+(\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[`${major}:${minor}`, `/dev/${name}`] as const];
    }),
  );
