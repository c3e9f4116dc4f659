/** Alignment of columns in a description, as Go's text/tabwriter does it for kubectl. Pure. */

const gap = 2;

/**
 * Returns the text with tabs replaced by spaces. A cell ends at a tab; a column consists of consecutive lines
 * that have a cell there, and is as wide as its widest cell plus two.
 */
export function alignTabs(text: string): string {
  const lines = text.split('\n').map((line) => line.split('\t'));
  const widths = lines.map((cells) => cells.slice(0, -1).map(() => 0));
  const columns = Math.max(0, ...widths.map((row) => row.length));
  for (let column = 0; column < columns; column++) setWidths(lines, widths, column);
  return lines
    .map((cells, line) => cells.map((cell, column) => padded(cell, widths[line]?.[column])).join(''))
    .join('\n');
}

/** Sets the width of one column for each block of consecutive lines. */
function setWidths(lines: readonly string[][], widths: readonly number[][], column: number): void {
  let block: number[][] = [];
  let width = gap;
  const endBlock = () => {
    for (const row of block) row[column] = width;
    [block, width] = [[], gap];
  };
  for (const [line, row] of widths.entries()) {
    if (column >= row.length) endBlock();
    else {
      block.push(row);
      width = Math.max(width, widthOf(lines[line]?.[column] ?? '') + gap);
    }
  }
  endBlock();
}

const widthOf = (text: string) => [...text].length;

const padded = (cell: string, width: number | undefined) =>
  width === undefined ? cell : cell + ' '.repeat(width - widthOf(cell));
