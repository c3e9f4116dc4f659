/** Texts of /proc and of cgroups, read. Pure. */

/** /proc/meminfo, in bytes. Throws when it does not say what is available. */
export function memoryInfo(text: string): { readonly size: number; readonly available: number } {
  const [size, available] = ['MemTotal', 'MemAvailable'].map((name) => {
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  });
  if (size === undefined || available === undefined) throw new Error('/proc/meminfo has no MemAvailable');
  return { size, available };
}

/** `memory.max` or `memory.limit_in_bytes`; undefined when there is no limit, which v1 says by a number beyond all memory. */
export function memoryLimit(text: string): number | undefined {
  const limit = Number(text.trim() || Number.NaN);
  return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;
}

/** Of `memory.stat`: file pages that can be dropped at once. v1 counts those of the groups below under another name. */
export function inactiveFileBytes(text: string): number {
  const values = new Map(
    text.split('\n').map((line) => {
      const [name = '', value = ''] = line.split(' ');
      return [name, Number(value)];
    }),
  );
  return values.get('total_inactive_file') ?? values.get('inactive_file') ?? 0;
}

/** Of /proc/PID/cgroup: where below /sys/fs/cgroup the memory of the process is counted; v1 first, where there is one. */
export function cgroupPaths(text: string): readonly string[] {
  const groups = text.split('\n').flatMap((line) => {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers.split(',').includes('memory')) return [{ version: 1, path: `memory${path}` }];
    return controllers === '' && path !== '' ? [{ version: 2, path: `.${path}` }] : [];
  });
  return groups.toSorted((a, b) => a.version - b.version).map(({ path }) => path);
}

/** Of /proc/PID/mountinfo: the writable directory of the overlay that is the process's root. */
export function overlayUpper(text: string): string | undefined {
  for (const line of text.split('\n')) {
    const [mount = '', source = ''] = line.split(' - ');
    if (mount.split(' ')[4] !== '/' || !source.startsWith('overlay ')) continue;
    return /(?:^|,)upperdir=([^,]+)/.exec(source.split(' ').at(-1) ?? '')?.[1];
  }
  return undefined;
}
