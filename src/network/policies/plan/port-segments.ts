/** Divides the ports of a protocol into ranges in which the same peers are allowed. Pure. */

export interface AllowedPorts {
  readonly from: number;
  readonly to: number;
  /** Keys of peers; undefined: everything. */
  readonly peers: readonly string[] | undefined;
}

export interface Segment {
  readonly from: number;
  readonly to: number;
  /** Sorted keys without repeats; undefined: everything. */
  readonly peers: readonly string[] | undefined;
}

/** Returns sorted segments that do not overlap; ports that nobody may use are in none. */
export function portSegments(allowed: readonly AllowedPorts[]): readonly Segment[] {
  const starts = [...new Set(allowed.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b);
  const opening = Map.groupBy(allowed, ({ from }) => from);
  const closing = Map.groupBy(allowed, ({ to }) => to + 1);
  const open = new Set<AllowedPorts>();
  const segments: Segment[] = [];
  for (const [index, from] of starts.entries()) {
    for (const entry of closing.get(from) ?? []) open.delete(entry);
    for (const entry of opening.get(from) ?? []) open.add(entry);
    const next = starts[index + 1];
    if (open.size > 0 && next !== undefined) append(segments, { from, to: next - 1, peers: peersOf(open) });
  }
  return segments;
}

function append(segments: Segment[], segment: Segment): void {
  const last = segments.at(-1);
  const touches = last?.to === segment.from - 1;
  if (last && touches && JSON.stringify(last.peers) === JSON.stringify(segment.peers))
    segments[segments.length - 1] = { ...last, to: segment.to };
  else segments.push(segment);
}

function peersOf(open: Iterable<AllowedPorts>): readonly string[] | undefined {
  const keys = new Set<string>();
  for (const { peers } of open) {
    if (peers === undefined) return undefined;
    for (const key of peers) keys.add(key);
  }
  return [...keys].sort();
}
