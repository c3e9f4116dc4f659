/** Order of the nodes in each layer, by which few edges cross: sweeps by the mean of neighbours. Pure. */
import type { Slot } from './graph.ts';

type Links = readonly (readonly [from: string, to: string])[];
type Layers = readonly (readonly Slot[])[];

const sweeps = 8;

/** Returns the layers in the best order that was found; `links` are between neighbouring layers. */
export function orderLayers(layers: Layers, links: Links): Layers {
  const before = neighboursOf(links, ([from, to]) => [to, from]);
  const after = neighboursOf(links, ([from, to]) => [from, to]);
  let best: Layers = layers;
  let least = crossings(layers, after);
  let current: Layers = layers;
  for (let sweep = 0; sweep < sweeps && least > 0; sweep++) {
    current = sweep % 2 === 0 ? swept(current, before) : swept(current.toReversed(), after).toReversed();
    const count = crossings(current, after);
    if (count < least) [best, least] = [current, count];
  }
  return best;
}

type Neighbours = ReadonlyMap<string, readonly string[]>;

function neighboursOf(links: Links, turned: (link: Links[number]) => readonly [string, string]): Neighbours {
  const all = new Map<string, string[]>();
  for (const link of links) {
    const [of, other] = turned(link);
    const list = all.get(of);
    if (list) list.push(other);
    else all.set(of, [other]);
  }
  return all;
}

/** Orders each layer by the mean position of the neighbours in the layer before it. */
function swept(layers: Layers, neighbours: Neighbours): Layers {
  const result: (readonly Slot[])[] = [];
  let positions = new Map<string, number>();
  for (const layer of layers) {
    const means = new Map(layer.map(({ id }, i) => [id, mean(neighbours.get(id) ?? [], positions) ?? i]));
    const sorted = layer.toSorted((a, b) => (means.get(a.id) ?? 0) - (means.get(b.id) ?? 0));
    result.push(sorted);
    positions = new Map(sorted.map(({ id }, i) => [id, i]));
  }
  return result;
}

function mean(ids: readonly string[], positions: ReadonlyMap<string, number>): number | undefined {
  const known = ids.flatMap((id) => positions.get(id) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0) / known.length;
}

/** Returns the number of pairs of edges that cross between neighbouring layers. */
export function crossings(layers: Layers, after: Neighbours): number {
  let count = 0;
  for (const [i, layer] of layers.entries()) {
    const next = new Map((layers[i + 1] ?? []).map(({ id }, position) => [id, position]));
    const ends = layer.flatMap(({ id }) =>
      (after.get(id) ?? []).flatMap((to) => next.get(to) ?? []).sort((a, b) => a - b),
    );
    count += inversions(ends);
  }
  return count;
}

/** Returns the number of pairs that are in the wrong order, by merge sort. */
function inversions(numbers: readonly number[]): number {
  if (numbers.length < 2) return 0;
  const half = numbers.length >> 1;
  const [left, right] = [numbers.slice(0, half), numbers.slice(half)];
  let count = inversions(left) + inversions(right);
  left.sort((a, b) => a - b);
  right.sort((a, b) => a - b);
  let smaller = 0;
  for (const one of left) {
    while (smaller < right.length && (right[smaller] ?? 0) < one) smaller++;
    count += smaller;
  }
  return count;
}
