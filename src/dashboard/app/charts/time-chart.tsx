/** A chart of values over time, by uPlot. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../shell/theme.ts';
import type { Series } from './plan/series.ts';

export interface ChartLine {
  readonly title: string;
  /** Name of a color of the style sheet, such as `--accent`. */
  readonly color: string;
}

interface Props {
  readonly label: string;
  readonly series: Series;
  readonly lines: readonly ChartLine[];
  /** Returns a value as text. */
  readonly text: (value: number) => string;
  /** Maximum of the axis; defaults to the maximum of the data. */
  readonly max?: number | undefined;
}

const height = 84;
/** Minimum time that a chart shows. */
const shownSeconds = 120;

const dark = matchMedia('(prefers-color-scheme: dark)');

export function TimeChart({ label, series, lines, text, max }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const colors = `${theme.value} ${dark.matches}`;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsOf(lines, text, max, element.clientWidth), dataOf(series), element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [colors, max]);
  useEffect(() => chart.current?.setData(dataOf(series)), [series]);
  const last = lines.map(({ title }, i) => {
    const value = series.lines[i]?.at(-1);
    return `${title} ${value === null || value === undefined ? 'unknown' : text(value)}`;
  });
  return <div ref={place} class="time-chart" role="img" aria-label={`${label}: ${last.join(', ')}`} />;
}

/** Returns the values of a chart, which shows two minutes at least. */
function dataOf({ times, lines }: Series): uPlot.AlignedData {
  const seconds = times.map((time) => time / 1000);
  const [first, last] = [seconds[0], seconds.at(-1)];
  if (first === undefined || last === undefined || last - first >= shownSeconds)
    return [seconds, ...lines.map((line) => [...line])];
  return [[last - shownSeconds, ...seconds], ...lines.map((line) => [null, ...line])];
}

function optionsOf(
  lines: readonly ChartLine[],
  text: (value: number) => string,
  max: number | undefined,
  width: number,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    ...{ width, height, legend: { show: false }, padding: [6, 0, 0, 0] },
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
    scales: {
      y: { range: (_chart, _least, most) => [0, Math.max(max ?? 0, most * 1.1, 1e-9)] },
    },
    axes: [
      { show: false },
      {
        ...{ show: true, size: 0, gap: 0, ticks: { show: false } },
        splits: (_chart, _axis, _least, most) => [0, most / 2],
        grid: { stroke: color('--line'), width: 1 },
        values: () => [],
      },
    ],
    series: [
      { value: (_chart, time) => (time === null ? '' : new Date(time * 1000).toLocaleTimeString()) },
      ...lines.map((line) => ({
        label: line.title,
        stroke: color(line.color),
        width: 1.5,
        fill: `color-mix(in srgb, ${color(line.color)} 14%, transparent)`,
        points: { show: (_chart: uPlot, _line: number, from: number, to: number) => from === to, size: 5 },
        value: (_chart: uPlot, value: number | null) => (value === null ? '' : text(value)),
      })),
    ],
  };
}
