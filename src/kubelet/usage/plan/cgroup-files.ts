/** Parses the files of a cgroup, v1 and v2, into one form. Pure. */

export interface CpuUsage {
  /** Nanoseconds since the cgroup was created. */
  readonly total: number;
  readonly user: number;
  readonly system: number;
  /** Throttling by the CFS quota; undefined where the cgroup has none. */
  readonly throttling:
    | { readonly periods: number; readonly throttled: number; readonly throttledNs: number }
    | undefined;
}

/** Bytes, and counts of faults since the cgroup was created. */
export interface MemoryUsage {
  readonly usage: number;
  /** Memory that the kernel cannot reclaim at once. */
  readonly workingSet: number;
  readonly rss: number;
  readonly cache: number;
  readonly mapped: number;
  readonly activeFile: number;
  readonly inactiveFile: number;
  readonly kernel: number;
  readonly swap: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** Maximum usage so far; undefined where the kernel does not record it. */
  readonly most: number | undefined;
  /** Number of times that the limit was reached. */
  readonly failures: number;
  readonly oomKills: number;
  readonly limit: number | undefined;
}

/** I/O of one block device since the cgroup was created. */
export interface DeviceUsage {
  readonly major: number;
  readonly minor: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly reads: number;
  readonly writes: number;
}

/** Directories of the cgroup for each controller, below /sys/fs/cgroup. */
export interface GroupDirectories {
  readonly version: 1 | 2;
  readonly cpu: string;
  readonly cpuacct: string;
  readonly memory: string;
  readonly pids: string;
  readonly io: string;
}

/**
 * Parses /proc/PID/cgroup and returns the cgroup of the container with that id. Both drivers name its cgroup
 * by the id (`/docker/ID`, `/system.slice/docker-ID.scope`), and a program inside may have created cgroups
 * below it, which count as parts of the container's cgroup. Undefined when the process is in no cgroup of
 * that name: the container has ended, and its pid belongs to another process.
 */
export function groupDirectories(text: string, id: string): GroupDirectories | undefined {
  const paths = groupPaths(text, id);
  const unified = paths.get('');
  const v1 = (name: string) => paths.get(name);
  const [memory, cpuacct] = [v1('memory'), v1('cpuacct')];
  if (memory !== undefined && cpuacct !== undefined) {
    const [cpu = cpuacct, pids = '', io = ''] = [v1('cpu'), v1('pids'), v1('blkio')];
    return { version: 1, cpu, cpuacct, memory, pids, io };
  }
  if (unified === undefined) return undefined;
  return { version: 2, cpu: unified, cpuacct: unified, memory: unified, pids: unified, io: unified };
}

/** Returns the cgroup's path in the hierarchy of each controller; the key of the unified one is empty. */
function groupPaths(text: string, id: string): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const group = path === undefined ? undefined : upTo(path, id);
    if (group === undefined) continue;
    // Each v1 hierarchy is mounted under the names of its controllers, with a link for each of them.
    for (const one of controllers?.split(',') ?? []) paths.set(one, `${one || '.'}${group}`);
  }
  return paths;
}

function upTo(path: string, id: string): string | undefined {
  const parts = path.split('/');
  const own = parts.findIndex((part) => part.includes(id));
  return own < 0 ? undefined : parts.slice(0, own + 1).join('/');
}

/** Parses lines of `NAME NUMBER`. */
export function counters(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    const value = space < 0 ? Number.NaN : Number(line.slice(space + 1));
    if (Number.isFinite(value)) found.set(line.slice(0, space), value);
  }
  return found;
}

/** Parses a number; undefined for a file without one (such as `max`) or a missing file. */
export function numberIn(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  const value = trimmed === '' ? Number.NaN : Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/** Parses `cpu.stat` of v2. */
export function cpuUsageV2(stat: string): CpuUsage | undefined {
  const found = counters(stat);
  const total = found.get('usage_usec');
  if (total === undefined) return undefined;
  const ns = (name: string) => (found.get(name) ?? 0) * 1000;
  return {
    total: total * 1000,
    user: ns('user_usec'),
    system: ns('system_usec'),
    throttling: throttlingOf(found, ns('throttled_usec')),
  };
}

/** Parses `cpuacct.usage`, `cpuacct.usage_user`, `cpuacct.usage_sys` and `cpu.stat` of v1. */
export function cpuUsageV1(
  usage: string,
  user: string | undefined,
  system: string | undefined,
  stat: string | undefined,
): CpuUsage | undefined {
  const total = numberIn(usage);
  if (total === undefined) return undefined;
  const found = counters(stat ?? '');
  return {
    total,
    user: numberIn(user) ?? 0,
    system: numberIn(system) ?? 0,
    throttling: throttlingOf(found, found.get('throttled_time') ?? 0),
  };
}

function throttlingOf(found: ReadonlyMap<string, number>, throttledNs: number): CpuUsage['throttling'] {
  const periods = found.get('nr_periods') ?? 0;
  return periods > 0 ? { periods, throttled: found.get('nr_throttled') ?? 0, throttledNs } : undefined;
}

export interface MemoryFiles {
  readonly usage: string;
  readonly stat: string;
  readonly limit: string | undefined;
  readonly most?: string | undefined;
  /** Text of memory.failcnt (v1) or memory.events (v2). */
  readonly failures?: string | undefined;
  /** Text of memory.oom_control (v1) or memory.events (v2). */
  readonly oom?: string | undefined;
  readonly kernel?: string | undefined;
  /** Only in v2. */
  readonly swap?: string | undefined;
}

/** A limit above this means no limit: v1 has a huge number where there is none. */
const noLimit = 2 ** 60;

export function memoryUsage(version: 1 | 2, files: MemoryFiles): MemoryUsage | undefined {
  const usage = numberIn(files.usage);
  if (usage === undefined) return undefined;
  const found = counters(files.stat);
  // The files of v1 have other names for values that include the cgroups below.
  const of = (name: string) =>
    (version === 1 ? found.get(`total_${name}`) : undefined) ?? found.get(name) ?? 0;
  const inactiveFile = of('inactive_file');
  const limit = numberIn(files.limit);
  return {
    usage,
    workingSet: Math.max(0, usage - inactiveFile),
    ...(version === 1 ? partsOfV1(of, files) : partsOfV2(of, files)),
    activeFile: of('active_file'),
    inactiveFile,
    pageFaults: of('pgfault'),
    majorPageFaults: of('pgmajfault'),
    most: numberIn(files.most),
    oomKills: counters(files.oom ?? '').get('oom_kill') ?? 0,
    limit: limit !== undefined && limit < noLimit ? limit : undefined,
  };
}

const partsOfV1 = (of: (name: string) => number, { kernel, failures }: MemoryFiles) => ({
  rss: of('rss'),
  cache: of('cache'),
  mapped: of('mapped_file'),
  kernel: numberIn(kernel) ?? 0,
  swap: of('swap'),
  failures: numberIn(failures) ?? 0,
});

const partsOfV2 = (of: (name: string) => number, { swap, failures }: MemoryFiles) => ({
  rss: of('anon'),
  cache: of('file'),
  mapped: of('file_mapped'),
  kernel: of('kernel'),
  swap: numberIn(swap) ?? 0,
  failures: counters(failures ?? '').get('max') ?? 0,
});

/** Parses `io.stat` of v2: `8:0 rbytes=1 wbytes=2 rios=3 wios=4 …`. */
export function devicesV2(stat: string): readonly DeviceUsage[] {
  return stat.split('\n').flatMap((line) => {
    const [, major, minor, rest = ''] = /^(\d+):(\d+) (.*)$/.exec(line) ?? [];
    if (major === undefined) return [];
    const found = new Map(rest.split(' ').map((part) => part.split('=', 2) as [string, string]));
    const of = (name: string) => Number(found.get(name) ?? 0) || 0;
    const device = { major: Number(major), minor: Number(minor) };
    const [readBytes, writeBytes] = [of('rbytes'), of('wbytes')];
    return [{ ...device, readBytes, writeBytes, reads: of('rios'), writes: of('wios') }];
  });
}

/** Parses `blkio.throttle.io_service_bytes_recursive` and `…io_serviced_recursive` of v1: `8:0 Read 1`. */
export function devicesV1(bytes: string, operations: string): readonly DeviceUsage[] {
  const found = new Map<string, { -readonly [K in keyof DeviceUsage]: DeviceUsage[K] }>();
  const add = (text: string, read: 'readBytes' | 'reads', write: 'writeBytes' | 'writes') => {
    for (const line of text.split('\n')) {
      const [, major, minor, what, amount] = /^(\d+):(\d+) (Read|Write) (\d+)$/.exec(line) ?? [];
      if (major === undefined) continue;
      const device = found.get(`${major}:${minor}`) ?? {
        ...{ major: Number(major), minor: Number(minor) },
        ...{ readBytes: 0, writeBytes: 0, reads: 0, writes: 0 },
      };
      device[what === 'Read' ? read : write] = Number(amount);
      found.set(`${major}:${minor}`, device);
    }
  };
  add(bytes, 'readBytes', 'writeBytes');
  add(operations, 'reads', 'writes');
  return [...found.values()];
}
