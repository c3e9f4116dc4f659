/**
 * Columns as kubectl aligns them: three blanks between them, at least six wide, the last one as it is. The widths
 * remember what was written before, so that the rows of a watch stay below their headers.
 */
export class TableWriter {
  readonly #widths: number[] = [];

  /** The text of the rows, each ended by a newline. */
  format(rows: readonly (readonly string[])[]): string {
    for (const row of rows)
      for (const [column, cell] of row.slice(0, -1).entries())
        this.#widths[column] = Math.max(this.#widths[column] ?? 6, width(cell) + 3);
    return rows.map((row) => `${this.#line(row)}\n`).join('');
  }

  #line(row: readonly string[]): string {
    const last = row.length - 1;
    return row
      .map((cell, column) =>
        column === last ? cell : cell + ' '.repeat((this.#widths[column] ?? 0) - width(cell)),
      )
      .join('');
  }
}

const width = (text: string) => [...text].length;

/** One line of a cell: what follows a line's end is cut off, as kubectl does. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const end = text.search(/[\n\r\f]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}
