/** Amounts as short texts for people. Pure. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns bytes such as `1.5 GiB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns thousandths of a processor as processors, such as `1.25`. */
export const processorsText = (milli: number): string =>
  (milli / 1000).toFixed(milli < 10_000 ? 2 : milli < 100_000 ? 1 : 0);

/** Returns a share such as `42%`; a dash where the whole is unknown. */
export const percentText = (part: number, whole: number): string =>
  whole > 0 ? `${Math.round((part * 100) / whole)}%` : '–';

/** Returns a rate such as `12.3/s`. */
export const rateText = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`;
