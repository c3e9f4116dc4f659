/** Which parts of a source ran, from what V8 writes for NODE_V8_COVERAGE. */

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

/** From this offset on, until the next: whether it ran. Sorted by offset. */
export type Ran = readonly (readonly [offset: number, ran: boolean])[];

/** What ran of each file whose URL begins with `prefix`, by the rest of the URL; of all processes together. */
export function coverageOf(reports: readonly CoverageReport[], prefix: string): ReadonlyMap<string, Ran[]> {
  const found = new Map<string, Ran[]>();
  for (const { url, functions } of reports.flatMap(({ result }) => result)) {
    if (!url.startsWith(prefix)) continue;
    const file = url.slice(prefix.length);
    found.set(file, [...(found.get(file) ?? []), flattened(functions.flatMap(({ ranges }) => ranges))]);
  }
  return found;
}

/** Ranges lie in one another; what counts at a place is the smallest one around it. */
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

/** Whether what stands at the offset ran in one of them. */
export const ranAt = (all: readonly Ran[], offset: number): boolean =>
  all.some((ran) => ran.findLast(([from]) => from <= offset)?.[1] ?? false);
