/** Executed parts of a source, from the reports that V8 writes for NODE_V8_COVERAGE. */

export interface CoverageReport {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly CountedRange[] }[];
  }[];
}

interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Offsets, and true if the code from there until the next offset was executed. Sorted by offset. */
export type Ran = readonly (readonly [offset: number, ran: boolean])[];

/**
 * Returns the executed parts of each file whose URL begins with `prefix`, by the rest of the URL, for all
 * processes together.
 */
export function coverageOf(reports: readonly CoverageReport[], prefix: string): ReadonlyMap<string, Ran[]> {
  const found = new Map<string, Ran[]>();
  for (const { url, functions } of reports.flatMap(({ result }) => result)) {
    if (!url.startsWith(prefix)) continue;
    const file = url.slice(prefix.length);
    found.set(file, [...(found.get(file) ?? []), flattened(functions.flatMap(({ ranges }) => ranges))]);
  }
  return found;
}

/** Returns flat ranges. Ranges are nested; the innermost one around an offset counts. */
function flattened(ranges: readonly CountedRange[]): Ran {
  const sorted = ranges.toSorted(
    (one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset,
  );
  const ran: [number, boolean][] = [];
  const around: CountedRange[] = [];
  const mark = (offset: number, yes: boolean) => {
    if (ran.at(-1)?.[0] === offset) ran.pop();
    if (ran.at(-1)?.[1] !== yes) ran.push([offset, yes]);
  };
  const closeUpTo = (offset: number) => {
    for (let last = around.at(-1); last && last.endOffset <= offset; last = around.at(-1)) {
      around.pop();
      mark(last.endOffset, (around.at(-1)?.count ?? 0) > 0);
    }
  };
  for (const range of sorted) {
    closeUpTo(range.startOffset);
    around.push(range);
    mark(range.startOffset, range.count > 0);
  }
  closeUpTo(Infinity);
  return ran;
}

/** Returns whether the code at the offset was executed in one of the reports. */
export const ranAt = (all: readonly Ran[], offset: number): boolean =>
  all.some((ran) => ran.findLast(([from]) => from <= offset)?.[1] ?? false);
