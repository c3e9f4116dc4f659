import { type Palette, plain } from '../../terminal/color.ts';

/**
 * Writes columns aligned like kubectl's: at least six characters wide, `gap` spaces between them (default
 * three), the last column without padding. The widths are kept, so that later rows of a watch are aligned to
 * their headers.
 */
export class TableWriter {
  readonly #widths: number[] = [];
  readonly #palette: Palette;

  readonly #gap: number;

  constructor(palette: Palette = plain, gap = 3) {
    this.#palette = palette;
    this.#gap = gap;
  }

  /** Returns the text of the rows, each ended by a newline, with the headers first if there are any. */
  format(rows: readonly (readonly string[])[], headers: readonly string[] = []): string {
    const { header, cell } = this.#palette;
    if (rows.some((row) => row.some((text) => breaks.test(text)))) return this.#formatBroken(rows, headers);
    const safe = rows.map((row) => row.map(shown));
    const all = headers.length > 0 ? [headers, ...safe] : safe;
    for (const row of all)
      for (const [column, text] of row.slice(0, -1).entries())
        this.#widths[column] = Math.max(this.#widths[column] ?? 6, width(text) + this.#gap);
    return all.map((row) => `${this.#line(row, row === headers ? header : cell)}\n`).join('');
  }

  /**
   * Returns the text of rows of which some have tabs or line breaks in their cells. As in kubectl, a tab ends
   * a cell, a line break ends a line, and a column ends at the first line that has no cell there.
   */
  #formatBroken(rows: readonly (readonly string[])[], headers: readonly string[]): string {
    const { header, cell } = this.#palette;
    const whole = rows.map((row) => row.map(shown).join('\t')).join('\n');
    const lines = whole.split('\n').map((line) => line.split('\t'));
    const all = headers.length > 0 ? [headers, ...lines] : lines;
    const out: string[] = [];
    this.#setBlocks(all, [], (line, widths) => {
      const paint = line === headers ? header : cell;
      const blanks = (text: string, column: number) => ' '.repeat((widths[column] ?? 0) - width(text));
      const painted = line.map((text, column) =>
        column < Math.min(widths.length, line.length - 1) ? paint(text) + blanks(text, column) : paint(text),
      );
      out.push(`${painted.join('')}\n`);
    });
    return out.join('');
  }

  /**
   * Calls `write` for each line with the widths of its columns. `widths` are those of the columns that all
   * lines have; consecutive lines with one more column are a block of it.
   */
  #setBlocks(lines: readonly Line[], widths: readonly number[], write: WriteLine): void {
    const column = widths.length;
    const hasCell = (line: Line | undefined) => line !== undefined && line.length - 1 > column;
    for (let at = 0; at < lines.length; ) {
      const from = at;
      while (hasCell(lines[at])) at++;
      const block = lines.slice(from, at);
      if (block.length === 0) write(lines[at++] ?? [], widths);
      else {
        const cells = block.map((line) => width(line[column] ?? '') + this.#gap);
        const widest = cells.reduce((most, one) => Math.max(most, one), this.#widths[column] ?? 6);
        this.#widths[column] = widest;
        this.#setBlocks(block, [...widths, widest], write);
      }
    }
  }

  #line(row: readonly string[], paint: (text: string) => string): string {
    const last = row.length - 1;
    const blanks = (column: number, text: string) =>
      column === last ? '' : ' '.repeat((this.#widths[column] ?? 0) - width(text));
    // Colours have no width, so they are added after padding.
    return row.map((text, column) => paint(text) + blanks(column, text)).join('');
  }
}

type Line = readonly string[];
type WriteLine = (line: Line, widths: readonly number[]) => void;

/** Characters in a cell that end it or its line. */
const breaks = /[\t\n]/;

const width = (text: string) => [...text].length;

/** Control characters except tab and newline, and the controls of bidirectional text. */
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv;

/**
 * Escapes a text of an object, which may be written by anybody, so that it cannot control the terminal: ESC
 * becomes `^[` and a carriage return `\r`, as in kubectl; other controls become `\u009b` and the like.
 */
export const shown = (text: string): string =>
  text.replace(steering, (control) => {
    if (control === '\u001b') return '^[';
    return control === '\r' ? '\\r' : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** Returns a cell as one line: the text after the first line is cut off, as in kubectl. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const end = text.search(/[\n\r\f]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}
