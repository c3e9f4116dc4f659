/** Layers of the nodes of a graph: each edge leads to a later layer. Pure. */
import type { ForwardEdge, GraphEdge, GraphNode } from './graph.ts';

/** Returns the edges; each edge that would close a cycle is turned around. */
export function acyclic(
  nodes: readonly GraphNode[],
  edges: readonly (GraphEdge & { readonly index: number })[],
): readonly ForwardEdge[] {
  const from = Map.groupBy(edges, (edge) => edge.from);
  const state = new Map<string, 'open' | 'done'>();
  const back = new Set<number>();
  for (const { id } of nodes) walk(id, from, state, back);
  return edges.map((edge) =>
    back.has(edge.index)
      ? { from: edge.to, to: edge.from, index: edge.index, isReversed: true }
      : { ...edge, isReversed: false },
  );
}

/** Walks depth first without recursion: a chain may be longer than the stack. */
function walk(
  start: string,
  edges: ReadonlyMap<string, readonly (GraphEdge & { readonly index: number })[]>,
  state: Map<string, 'open' | 'done'>,
  back: Set<number>,
): void {
  if (state.has(start)) return;
  const path = [{ id: start, next: 0 }];
  state.set(start, 'open');
  for (let at = path.at(-1); at; at = path.at(-1)) {
    const edge = edges.get(at.id)?.[at.next++];
    if (!edge) {
      state.set(at.id, 'done');
      path.pop();
    } else if (state.get(edge.to) === 'open') back.add(edge.index);
    else if (!state.has(edge.to)) {
      state.set(edge.to, 'open');
      path.push({ id: edge.to, next: 0 });
    }
  }
}

/** Returns the layer of each node: the one given, or the length of the longest way to it. */
export function layersOf(
  nodes: readonly GraphNode[],
  edges: readonly ForwardEdge[],
): ReadonlyMap<string, number> {
  if (nodes.every(({ layer }) => layer !== undefined))
    return new Map(nodes.map(({ id, layer = 0 }) => [id, layer]));
  const from = Map.groupBy(edges, (edge) => edge.from);
  const layers = new Map(nodes.map(({ id }) => [id, 0]));
  for (const id of inOrder(nodes, edges, from))
    for (const { to } of from.get(id) ?? [])
      layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(id) ?? 0) + 1));
  return layers;
}

/** Generates each node after all that lead to it. */
function* inOrder(
  nodes: readonly GraphNode[],
  edges: readonly ForwardEdge[],
  from: ReadonlyMap<string, readonly ForwardEdge[]>,
): Generator<string> {
  const incoming = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { to } of edges) incoming.set(to, (incoming.get(to) ?? 0) + 1);
  const ready = nodes.filter(({ id }) => incoming.get(id) === 0).map(({ id }) => id);
  for (const id of ready) {
    yield id;
    for (const { to } of from.get(id) ?? []) {
      const left = (incoming.get(to) ?? 0) - 1;
      incoming.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
}
