/** Lines of several logs in the order of their times. Pure. */

export interface LogLine {
  /** Number of the source in the list of sources. */
  readonly source: number;
  /** Time in UTC with nine digits behind the point, so that texts sort as times; '' if it is unknown. */
  readonly stamp: string;
  readonly text: string;
}

/** Maximum characters of a line; a longer line is cut into several. */
const maxLine = 16_384;
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) (.*)$/s;

/** Cuts one log, which arrives in pieces of any size, into lines. */
export class LineReader {
  readonly #source: number;
  #rest = '';
  #stamp = '';

  constructor(source: number) {
    this.#source = source;
  }

  /** Returns the lines that the text completes. */
  read(text: string): readonly LogLine[] {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    const lines = parts.flatMap((part) => this.#linesOf(part));
    if (this.#rest.length <= maxLine) return lines;
    const cut = this.#linesOf(this.#rest);
    this.#rest = '';
    return [...lines, ...cut];
  }

  /** Returns the last line of a log that ended without a line feed. */
  end(): readonly LogLine[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : this.#linesOf(rest);
  }

  #linesOf(raw: string): LogLine[] {
    const [, time, fraction = '', zone, rest] = stamped.exec(raw) ?? [];
    if (time !== undefined) this.#stamp = stampOf(time, fraction, zone ?? 'Z');
    const text = (rest ?? raw).replace(/\r$/, '');
    const lines: LogLine[] = [];
    for (let at = 0; at === 0 || at < text.length; at += maxLine)
      lines.push({ source: this.#source, stamp: this.#stamp, text: text.slice(at, at + maxLine) });
    return lines;
  }
}

function stampOf(time: string, fraction: string, zone: string): string {
  const digits = fraction.padEnd(9, '0');
  if (zone === 'Z') return `${time}.${digits}Z`;
  const utc = new Date(`${time}${zone}`);
  return Number.isNaN(utc.getTime()) ? '' : `${utc.toISOString().slice(0, 19)}.${digits}Z`;
}

export interface MergedLog {
  readonly lines: readonly LogLine[];
  /** Number of the oldest lines that were left out for the maximum. */
  readonly dropped: number;
}

export const emptyLog: MergedLog = { lines: [], dropped: 0 };

/**
 * Returns a log with new lines in the places of their times, those of one time in the order of arrival. The
 * oldest lines above the maximum are left out.
 */
export function mergeLines(log: MergedLog, arrived: readonly LogLine[], max: number): MergedLog {
  if (arrived.length === 0) return log;
  const fresh = arrived.toSorted((a, b) => compare(a.stamp, b.stamp));
  const first = fresh[0]?.stamp ?? '';
  // Lines nearly always belong at the end: only the lines after the first new one are sorted in.
  let from = log.lines.length;
  while (from > 0 && compare(log.lines[from - 1]?.stamp ?? '', first) > 0) from--;
  const lines = [...log.lines.slice(0, from), ...interleaved(log.lines.slice(from), fresh)];
  const over = Math.max(0, lines.length - max);
  return { lines: over > 0 ? lines.slice(over) : lines, dropped: log.dropped + over };
}

function interleaved(older: readonly LogLine[], newer: readonly LogLine[]): LogLine[] {
  const merged: LogLine[] = [];
  let next = 0;
  for (const line of newer) {
    for (let old = older[next]; old && compare(old.stamp, line.stamp) <= 0; old = older[++next])
      merged.push(old);
    merged.push(line);
  }
  return [...merged, ...older.slice(next)];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the lines after a time: a log that is requested again begins with the whole second of its last
 * line.
 */
export const linesAfter = (lines: readonly LogLine[], stamp: string): readonly LogLine[] =>
  stamp === '' ? lines : lines.filter((line) => line.stamp > stamp);
