/** The terminal display of work in progress. Pure. */

export interface Work {
  /** Name of the work, such as `pod/web`. */
  readonly what: string;
  /** Text about the progress; empty when it is unknown. */
  readonly detail: string;
  /** Time of the start, in milliseconds of the same clock as `now`. */
  readonly since: number;
}

/** Maximum number of lines; further work is shown as a number. */
const maxLines = 8;
const turns = ['|', '/', '-', '\\'] as const;
const turnMs = 100;

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Returns a line for each work. A line is narrower than the terminal, which would break it otherwise. There
 * are fewer lines than rows, since lines that have scrolled off cannot be erased. ASCII only, without colors.
 */
export function progressLines(
  works: readonly Work[],
  now: number,
  { columns: width, rows }: TerminalSize,
): readonly string[] {
  const most = Math.max(1, Math.min(maxLines, rows - 1));
  const shown = works.length > most ? works.slice(0, most - 1) : works;
  const rest = works.length - shown.length;
  const sign = turns[Math.floor(now / turnMs) % turns.length] ?? '';
  const lines = shown.map((work) => cut(`${sign} `, stateOf(work), ageOf(work, now), width));
  return rest > 0 ? [...lines, cut('  ', `and ${rest} more`, '', width)] : lines;
}

/** Returns what the work is, its progress and its age, of any length. */
export const workLine = (work: Work, now: number): string => `${stateOf(work)}${ageOf(work, now)}`;

const stateOf = ({ what, detail }: Work) => oneLine(detail === '' ? what : `${what}: ${detail}`);

const ageOf = ({ since }: Work, now: number) => ` (${age(now - since)})`;

/** Returns a line with its beginning and end; text that does not fit between them is truncated with dots. */
function cut(begin: string, text: string, end: string, width: number): string {
  // Some terminals begin a new line after the last column.
  const room = width - 1 - begin.length - end.length;
  if (room < 4) return text.slice(0, Math.max(0, width - 1));
  return `${begin}${text.length > room ? `${text.slice(0, room - 3)}...` : text}${end}`;
}

/** Returns the number of rows that lines occupy, which may have been drawn when the terminal was wider. */
export const rowsOf = (lines: readonly string[], { columns }: TerminalSize): number =>
  lines.reduce((rows, { length }) => rows + Math.max(1, Math.ceil(length / Math.max(1, columns))), 0);

/**
 * Removes control and other non-ASCII characters: names and messages from outside must not control the
 * terminal, or occupy more columns than counted.
 */
const oneLine = (text: string) => text.replace(/[^\x20-\x7e]+/g, ' ');

function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
