/**
 * Layout of a directed graph in layers (Sugiyama's method): cycles are broken, nodes get layers, the order in
 * each layer is chosen to have few crossings, and nodes move towards their neighbours. Pure.
 */

import type { ForwardEdge, GraphEdge, GraphNode, Slot } from './graph.ts';
import { orderLayers } from './layer-order.ts';
import { acyclic, layersOf } from './layers.ts';

export interface Gaps {
  /** Between nodes of a layer. */
  readonly between: number;
  /** Between layers. */
  readonly layers: number;
}

export interface Placed {
  /** Center of the node across the layers, and start of it along them. */
  readonly center: number;
  readonly start: number;
}

export interface LayeredLayout {
  readonly nodes: ReadonlyMap<string, Placed>;
  /** Points of each edge in the order of the edges given, as pairs across and along the layers. */
  readonly edges: readonly (readonly (readonly [across: number, along: number])[])[];
  readonly breadth: number;
  readonly depth: number;
}

/** Breadth of the place of a passing edge. */
const passBreadth = 12;

export function layered(nodes: readonly GraphNode[], edges: readonly GraphEdge[], gaps: Gaps): LayeredLayout {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = edges.map((edge, index) => ({ ...edge, index })).filter(isBetween(byId));
  const forward = acyclic(nodes, known);
  const layerOf = layersOf(nodes, forward);
  const layers: Slot[][] = Array.from({ length: Math.max(0, ...layerOf.values()) + 1 }, () => []);
  for (const node of nodes) layers[layerOf.get(node.id) ?? 0]?.push(node);
  const routes = forward.map((edge) => ({ edge, route: routeOf(edge, layerOf, layers) }));
  const links = routes.flatMap(({ route }) => route.slice(1).map((to, i) => [route[i] ?? to, to] as const));
  const ordered = orderLayers(layers, links);
  const centers = centersOf(ordered, links, gaps.between);
  return assembled(ordered, centers, routes, edges.length, gaps);
}

const isBetween =
  (nodes: ReadonlyMap<string, GraphNode>) =>
  ({ from, to }: GraphEdge) =>
    nodes.has(from) && nodes.has(to) && from !== to;

/** Returns the ids from the start to the end of an edge; a layer between them gets a slot. */
function routeOf(
  { from, to, index }: ForwardEdge,
  layerOf: ReadonlyMap<string, number>,
  layers: Slot[][],
): readonly string[] {
  const [first, last] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
  const route = [from];
  for (let layer = first + 1; layer < last; layer++) {
    const id = `\0${index}:${layer}`;
    layers[layer]?.push({ id, breadth: passBreadth, depth: 0, isPassing: true });
    route.push(id);
  }
  return [...route, to];
}

type Links = readonly (readonly [string, string])[];

/** Number of times that nodes move towards their neighbours. */
const rounds = 12;

/** Returns the centers across the layers: near the neighbours, without overlaps, the first at least at 0. */
function centersOf(
  layers: readonly (readonly Slot[])[],
  links: Links,
  gap: number,
): ReadonlyMap<string, number> {
  const ends = [...links, ...links.map(([from, to]) => [to, from] as const)];
  const neighbours = new Map(
    [...Map.groupBy(ends, ([id]) => id)].map(([id, own]) => [id, own.map(([, other]) => other)] as const),
  );
  const centers = new Map<string, number>();
  for (const layer of layers) {
    const whole = layer.reduce((sum, { breadth }) => sum + breadth + gap, -gap);
    let at = -whole / 2;
    for (const { id, breadth } of layer) {
      centers.set(id, at + breadth / 2);
      at += breadth + gap;
    }
  }
  for (let round = 0; round < rounds; round++)
    for (const layer of round % 2 === 0 ? layers : layers.toReversed())
      settle(layer, centers, neighbours, gap);
  return centers;
}

function meanOf(ids: readonly string[], centers: ReadonlyMap<string, number>): number | undefined {
  return ids.length === 0 ? undefined : ids.reduce((sum, id) => sum + (centers.get(id) ?? 0), 0) / ids.length;
}

/** Moves the nodes of a layer to the mean of their neighbours, as far as the order and the gaps allow. */
function settle(
  layer: readonly Slot[],
  centers: Map<string, number>,
  neighbours: ReadonlyMap<string, readonly string[]>,
  gap: number,
): void {
  const wanted = layer.map(({ id }) => meanOf(neighbours.get(id) ?? [], centers) ?? centers.get(id) ?? 0);
  const distance = (i: number) => ((layer[i]?.breadth ?? 0) + (layer[i + 1]?.breadth ?? 0)) / 2 + gap;
  const fromLeft = [...wanted];
  for (let i = 1; i < layer.length; i++)
    fromLeft[i] = Math.max(wanted[i] ?? 0, (fromLeft[i - 1] ?? 0) + distance(i - 1));
  const fromRight = [...wanted];
  for (let i = layer.length - 2; i >= 0; i--)
    fromRight[i] = Math.min(wanted[i] ?? 0, (fromRight[i + 1] ?? 0) - distance(i));
  // The mean of both keeps the distances, and shares the shift between the two sides.
  layer.forEach(({ id }, i) => {
    centers.set(id, ((fromLeft[i] ?? 0) + (fromRight[i] ?? 0)) / 2);
  });
}

type Point = readonly [across: number, along: number];

interface Place extends Placed {
  readonly end: number;
  /** End of the layer: a shorter node is followed by free space. */
  readonly layerEnd: number;
}

function assembled(
  layers: readonly (readonly Slot[])[],
  centers: ReadonlyMap<string, number>,
  routes: readonly { readonly edge: ForwardEdge; readonly route: readonly string[] }[],
  edgeCount: number,
  gaps: Gaps,
): LayeredLayout {
  const sides = layers.flat().map(({ id, breadth }) => [centers.get(id) ?? 0, breadth / 2] as const);
  const first = sides.reduce((least, [at, half]) => Math.min(least, at - half), Number.POSITIVE_INFINITY);
  const last = sides.reduce((most, [at, half]) => Math.max(most, at + half), first);
  const places = new Map<string, Place>();
  let along = 0;
  for (const layer of layers) {
    const depth = layer.reduce((most, slot) => Math.max(most, slot.depth), 0);
    for (const slot of layer)
      places.set(slot.id, placeOf(slot, (centers.get(slot.id) ?? 0) - first, along, depth));
    along += depth + gaps.layers;
  }
  const edges: (readonly Point[])[] = Array.from({ length: edgeCount }, () => []);
  for (const { edge, route } of routes) {
    const points = pointsOf(route.flatMap((id) => places.get(id) ?? []));
    edges[edge.index] = edge.isReversed ? points.reverse() : points;
  }
  const breadth = sides.length === 0 ? 0 : last - first;
  return { nodes: places, edges, breadth, depth: Math.max(0, along - gaps.layers) };
}

/** Nodes are at the start of their layer; an edge passes the whole layer. */
const placeOf = (slot: Slot, center: number, start: number, depth: number): Place => ({
  center,
  start,
  end: start + (slot.isPassing ? depth : slot.depth),
  layerEnd: start + depth,
});

/** Returns the points of an edge: it leaves a layer straight, and bends only between layers. */
function pointsOf(route: readonly Place[]): Point[] {
  return route.flatMap(({ center, start, end, layerEnd }, i): Point[] => {
    if (i === route.length - 1) return [[center, start]];
    const leaving: Point[] =
      end === layerEnd
        ? [[center, end]]
        : [
            [center, end],
            [center, layerEnd],
          ];
    return i === 0
      ? leaving
      : [
          [center, start],
          [center, end],
        ];
  });
}
