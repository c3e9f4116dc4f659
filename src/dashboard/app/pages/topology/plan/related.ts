/** Parts of a graph that belong to one node: the ways that lead to it, and those that begin at it. Pure. */

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Returns the ids of a node and of all nodes before and after it. */
export function related(edges: readonly Edge[], id: string): ReadonlySet<string> {
  const found = new Set([id]);
  follow(
    found,
    id,
    Map.groupBy(edges, ({ from }) => from),
    ({ to }) => to,
  );
  follow(
    found,
    id,
    Map.groupBy(edges, ({ to }) => to),
    ({ from }) => from,
  );
  return found;
}

function follow(
  found: Set<string>,
  start: string,
  edges: ReadonlyMap<string, readonly Edge[]>,
  next: (edge: Edge) => string,
): void {
  const reached = new Set([start]);
  for (const id of reached) for (const edge of edges.get(id) ?? []) reached.add(next(edge));
  for (const id of reached) found.add(id);
}
