/** What a terminal shows of work that takes a while. Pure. */

export interface Work {
  /** Such as `pod/web`. */
  readonly what: string;
  /** How far it is; '' where nothing is known. */
  readonly detail: string;
  /** When it began, in milliseconds of the same clock as `now`. */
  readonly since: number;
}

/** More are told as a number. */
const mostLines = 8;
const turns = ['|', '/', '-', '\\'] as const;
const turnMs = 100;

/** In signs. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * A line for each work, none wider than the terminal, which would break it into two, and no more than it has: what has left it above cannot
 * be erased. ASCII signs, and no colours.
 */
export function progressLines(
  works: readonly Work[],
  now: number,
  { columns: width, rows }: TerminalSize,
): readonly string[] {
  const most = Math.max(1, Math.min(mostLines, rows - 1));
  const shown = works.length > most ? works.slice(0, most - 1) : works;
  const rest = works.length - shown.length;
  const sign = turns[Math.floor(now / turnMs) % turns.length] ?? '';
  const lines = shown.map(({ what, detail, since }) => {
    const said = detail === '' ? what : `${what}: ${detail}`;
    return cut(`${sign} `, oneLine(said), ` (${age(now - since)})`, width);
  });
  return rest > 0 ? [...lines, cut('  ', `and ${rest} more`, '', width)] : lines;
}

/** The beginning and the end stay; where the rest does not fit it ends with a sign for that. */
function cut(begin: string, text: string, end: string, width: number): string {
  // In the last column some terminals begin the next line.
  const room = width - 1 - begin.length - end.length;
  if (room < 4) return text.slice(0, Math.max(0, width - 1));
  return `${begin}${text.length > room ? `${text.slice(0, room - 3)}...` : text}${end}`;
}

/** How many rows lines take that were drawn when the terminal was wider, perhaps. */
export const rowsOf = (lines: readonly string[], { columns }: TerminalSize): number =>
  lines.reduce((rows, { length }) => rows + Math.max(1, Math.ceil(length / Math.max(1, columns))), 0);

/** Names and messages come from others: nothing of them may steer the terminal, or take more room than it seems to. */
const oneLine = (text: string) => text.replace(/[^\x20-\x7e]+/g, ' ');

function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
