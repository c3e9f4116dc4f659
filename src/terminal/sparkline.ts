/** Small charts of numbers in a line of text. Pure. */

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Returns a bar for each value, from zero to the largest of them; the lowest bar for all if all are zero.
 * `width` is the number of characters: the newest values are shown, with blanks before the first.
 */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-width);
  const most = Math.max(...shown, 0);
  const bar = (value: number) =>
    bars[most > 0 ? Math.round((Math.max(0, value) / most) * (bars.length - 1)) : 0] ?? bars[0];
  return shown.map(bar).join('').padStart(width);
}
