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
    const widths = this.#blockWidths(all);
    const painted = all.map((line, at) => {
      const paint = line === headers ? header : cell;
      const blanks = (text: string, column: number) =>
        ' '.repeat(Math.max(0, (widths[at]?.[column] ?? 0) - width(text)));
      return line.map((text, column) => paint(text) + blanks(text, column)).join('');
    });
    return painted.map((text) => `${text}\n`).join('');
  }

  /**
   * Returns the widths of the cells of each line, except for its last cell, which has none. Consecutive lines
   * that have a cell in a column, beside their last one, are a block: their cells there are equally wide.
   */
  #blockWidths(lines: readonly Line[]): readonly (readonly number[])[] {
    const widths = lines.map((): number[] => []);
    let blocks: readonly Block[] = [[0, lines.length]];
    for (let column = 0; blocks.length > 0; column++) {
      blocks = blocks.flatMap((block) => partsWith(column, lines, block));
      for (const block of blocks) {
        const widest = this.#widest(column, lines.slice(...block));
        for (const row of widths.slice(...block)) row.push(widest);
      }
    }
    return widths;
  }

  /** Returns the width of a column of lines that all have a cell there, which never becomes smaller. */
  #widest(column: number, lines: readonly Line[]): number {
    const widths = lines.map((line) => width(line[column] ?? '') + this.#gap);
    const widest = widths.reduce((most, one) => Math.max(most, one), this.#widths[column] ?? 6);
    this.#widths[column] = widest;
    return widest;
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

/** Consecutive lines: the first one, and the one after the last. */
type Block = readonly [from: number, end: number];

/** Returns the parts of a block whose lines all have a cell in the column, beside their last one. */
function partsWith(column: number, lines: readonly Line[], [from, end]: Block): Block[] {
  const hasCell = (at: number) => (lines[at]?.length ?? 0) - 1 > column;
  const parts: Block[] = [];
  for (let at = from; at < end; at++) {
    const start = at;
    while (at < end && hasCell(at)) at++;
    if (at > start) parts.push([start, at]);
  }
  return parts;
}

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
    return control === '\r' ? '\\r' : codeOf(control);
  });

const codeOf = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes a name so that it stays part of its line: as `shown`, but each control has its code. */
export const shownName = (name: string): string => name.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, codeOf);

/** Returns a cell as one line: the text after the first line is cut off, as in kubectl. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const end = text.search(/[\n\r\f]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}
