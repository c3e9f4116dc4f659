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

/**
 * `memory.max` or `memory.limit_in_bytes`; undefined when there is no limit, which v1 says by a number beyond all
 * memory.
 */
export function memoryLimit(text: string): number | undefined {
  const limit = Number(text.trim() || Number.NaN);
  return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;
}

/** Of `memory.stat`: file pages that can be dropped at once. v1 counts those of the groups below under another name. */
export function inactiveFileBytes(text: string): number {
  const total = /^total_inactive_file (\d+)$/m.exec(text)?.[1];
  const own = /^inactive_file (\d+)$/m.exec(text)?.[1];
  return Number(total ?? own ?? 0);
}

/** Of /proc/PID/mountinfo: the writable directory of the overlay that is the process's root. */
export const overlayUpper = (text: string): string | undefined =>
  /^(?:\S+ ){4}\/ .* - overlay \S+ (?:\S*,)?upperdir=([^,\s]+)/m.exec(text)?.[1];
