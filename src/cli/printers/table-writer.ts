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

/** Programs, hosts and strangers write what stands in objects: none of it may steer the terminal. As kubectl shows it. */
export const shown = (text: string): string => text.replaceAll('\u001b', '^[').replaceAll('\r', '\\r');

/** One line of a cell: what follows a line's end is cut off, as kubectl does. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const end = text.search(/[\n\r\f]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}
