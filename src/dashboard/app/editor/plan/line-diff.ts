/** The difference of two texts by lines. Pure. */
export interface DiffLine {
  readonly type: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Number of the line in the old or the new text, from 1. */
  readonly number: number;
}

/** A run of lines with changes, or the count of unchanged lines that are left out. */
export type DiffPart = { readonly lines: readonly DiffLine[] } | { readonly hidden: number };

/** Maximum number of pairs of lines that are compared; larger texts are shown as one replacement. */
const maxPairs = 4_000_000;

/** Returns the lines of both texts in order: the longest common sequence of lines is unchanged. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const head = commonHead(a, b);
  const tail = commonHead(a.slice(head).reverse(), b.slice(head).reverse());
  const same = (index: number): DiffLine => ({ type: 'same', text: b[index] ?? '', number: index + 1 });
  const range = (from: number, end: number) => Array.from({ length: end - from }, (_, index) => from + index);
  return [
    ...range(0, head).map(same),
    ...changes(a.slice(head, a.length - tail), b.slice(head, b.length - tail), head),
    ...range(b.length - tail, b.length).map(same),
  ];
}

/** Returns how many items two lists have in common from their beginning. */
function commonHead(a: readonly string[], b: readonly string[]): number {
  const end = Math.min(a.length, b.length);
  let count = 0;
  while (count < end && a[count] === b[count]) count++;
  return count;
}

function changes(a: readonly string[], b: readonly string[], from: number): DiffLine[] {
  const removed = (index: number): DiffLine => line('removed', a, index, from);
  const added = (index: number): DiffLine => line('added', b, index, from);
  if (a.length * b.length > maxPairs)
    return [...a.map((_, index) => removed(index)), ...b.map((_, i) => added(i))];
  const common = commonLengths(a, b);
  /** Length of the longest common sequence of the lines from `x` and from `y` on. */
  const rest = (x: number, y: number) => common[x * (b.length + 1) + y] ?? 0;
  const lines: DiffLine[] = [];
  let [x, y] = [0, 0];
  while (x < a.length && y < b.length) {
    if (a[x] === b[y]) {
      lines.push(line('same', b, y++, from));
      x++;
    } else if (rest(x + 1, y) >= rest(x, y + 1)) lines.push(removed(x++));
    else lines.push(added(y++));
  }
  while (x < a.length) lines.push(removed(x++));
  while (y < b.length) lines.push(added(y++));
  return lines;
}

const line = (type: DiffLine['type'], lines: readonly string[], index: number, from: number): DiffLine => ({
  type,
  text: lines[index] ?? '',
  number: from + index + 1,
});

const at = (values: Uint32Array, index: number): number => values[index] ?? 0;

/** Returns, row by row, the length of the longest common sequence for each pair of tails of the two lists. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--) {
      const place = x * width + y;
      lengths[place] =
        a[x] === b[y]
          ? at(lengths, place + width + 1) + 1
          : Math.max(at(lengths, place + width), at(lengths, place + 1));
    }
  return lengths;
}

/** Unchanged lines that are kept around a change. */
const context = 3;

/** Leaves out long runs of unchanged lines. */
export function foldDiff(lines: readonly DiffLine[]): DiffPart[] {
  const isKept = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ type }) => type !== 'same'),
  );
  const parts: DiffPart[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (end < lines.length && isKept[end] === isKept[start]) end++;
    parts.push(isKept[start] ? { lines: lines.slice(start, end) } : { hidden: end - start });
    start = end;
  }
  return parts;
}

export const hasChanges = (lines: readonly DiffLine[]): boolean => lines.some(({ type }) => type !== 'same');
