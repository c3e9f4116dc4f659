import { type Palette, plain } from '../../base/color.ts';

/**
 * Columns as kubectl aligns them: three blanks between them, or as many as `gap` says, at least six wide, the last one as it is. The widths
 * remember what was written before, so that the rows of a watch stay below their headers.
 */
export class TableWriter {
  readonly #widths: number[] = [];
  readonly #palette: Palette;

  readonly #gap: number;

  constructor(palette: Palette = plain, gap = 3) {
    this.#palette = palette;
    this.#gap = gap;
  }

  /** The text of the rows, each ended by a newline; with headers before them when there are any. */
  format(rows: readonly (readonly string[])[], headers: readonly string[] = []): string {
    const { header, cell } = this.#palette;
    const safe = rows.map((row) => row.map(shown));
    const all = headers.length > 0 ? [headers, ...safe] : safe;
    for (const row of all)
      for (const [column, text] of row.slice(0, -1).entries())
        this.#widths[column] = Math.max(this.#widths[column] ?? 6, width(text) + this.#gap);
    return all.map((row) => `${this.#line(row, row === headers ? header : cell)}\n`).join('');
  }

  #line(row: readonly string[], paint: (text: string) => string): string {
    const last = row.length - 1;
    const blanks = (column: number, text: string) =>
      column === last ? '' : ' '.repeat((this.#widths[column] ?? 0) - width(text));
    // Colours take no room, so they come after the counting.
    return row.map((text, column) => paint(text) + blanks(column, text)).join('');
  }
}

const width = (text: string) => [...text].length;

/** Control characters but for the tab and the end of a line, and the controls of bidirectional text. */
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv;

/**
 * A text of an object, which may be written by anybody, so that it does not steer the terminal: ESC is `^[` and a carriage return `\r`, as
 * in kubectl, and other controls are `\u009b` and the like.
 */
export const shown = (text: string): string =>
  text.replace(steering, (control) => {
    if (control === '\u001b') return '^[';
    return control === '\r' ? '\\r' : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** One line of a cell: what follows a line's end is cut off, as kubectl does. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const end = text.search(/[\n\r\f]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}
