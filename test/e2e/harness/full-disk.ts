/**
 * Settings that make a node ignore how full its disk is, since the disk of the test machine may be nearly
 * full. Memory and processes keep their thresholds.
 */
export const onAFullDisk: Readonly<Record<string, string>> = {
  'eviction-hard': 'memory.available<100Mi,pid.available<5%',
  'image-gc-high-threshold': '100',
};

/** Returns these settings as flags, without those that `given` has. */
export function fullDiskFlags(given: readonly string[]): readonly string[] {
  const has = (name: string) => given.some((flag) => flag === `--${name}` || flag.startsWith(`--${name}=`));
  return Object.entries(onAFullDisk)
    .filter(([name]) => !has(name))
    .map(([name, value]) => `--${name}=${value}`);
}
