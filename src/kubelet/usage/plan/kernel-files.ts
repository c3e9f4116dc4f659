/** Parses texts of /proc and of cgroups. Pure. */

/** Parses /proc/meminfo, in bytes. Throws when it does not contain the available memory. */
export function memoryInfo(text: string): { readonly size: number; readonly available: number } {
  const [size, available] = ['MemTotal', 'MemAvailable'].map((name) => {
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  });
  if (size === undefined || available === undefined) throw new Error('/proc/meminfo has no MemAvailable');
  return { size, available };
}

/** Parses `memory.max` or `memory.limit_in_bytes`; undefined for no limit, for which v1 has a huge number. */
export function memoryLimit(text: string): number | undefined {
  const limit = Number(text.trim() || Number.NaN);
  return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;
}

/**
 * Parses `memory.stat`: bytes of file pages that can be dropped at once. v1 has another name for the value
 * that includes the cgroups below.
 */
export function inactiveFileBytes(text: string): number {
  const total = /^total_inactive_file (\d+)$/m.exec(text)?.[1];
  const own = /^inactive_file (\d+)$/m.exec(text)?.[1];
  return Number(total ?? own ?? 0);
}

/** Parses /proc/PID/mountinfo: the writable directory of the overlay that is the process's root. */
export const overlayUpper = (text: string): string | undefined =>
  /^(?:\S+ ){4}\/ .* - overlay \S+ (?:\S*,)?upperdir=([^,\s]+)/m.exec(text)?.[1];
