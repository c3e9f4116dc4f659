/** Writes a number of bytes as Docker does: in powers of 1000, with at most three digits. Pure. */
const units = ['B', 'kB', 'MB', 'GB', 'TB'];

export function inBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)}${units[unit]}`;
}
