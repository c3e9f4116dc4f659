/** Layout of graphs in layers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GraphEdge, GraphNode } from '../../../../src/dashboard/app/graph/plan/graph.ts';
import { layered } from '../../../../src/dashboard/app/graph/plan/layered.ts';

const node = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  breadth: 100,
  depth: 40,
  ...more,
});
const edgesOf = (text: string): GraphEdge[] =>
  text.split(' ').map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });
const gaps = { between: 20, layers: 50 };

describe('a layered layout', () => {
  it('places each node after those that lead to it', () => {
    const { nodes, depth } = layered(
      [...'abcd'].map((id) => node(id)),
      edgesOf('a>b b>c a>c c>d'),
      gaps,
    );
    assert.deepEqual(
      [...'abcd'].map((id) => nodes.get(id)?.start),
      [0, 90, 180, 270],
    );
    assert.equal(depth, 310);
  });

  it('lets no nodes of a layer overlap, and begins at 0', () => {
    const ids = Array.from({ length: 9 }, (_, i) => `n${i}`);
    const edges = ids.slice(1).map((to, i) => ({ from: ids[Math.floor(i / 2)] ?? '', to }));
    const { nodes, breadth } = layered(
      ids.map((id) => node(id)),
      edges,
      gaps,
    );
    const placed = [...nodes].filter(([id]) => !id.startsWith('\0'));
    assert.ok(Math.abs(Math.min(...placed.map(([, { center }]) => center)) - 50) < 1e-6);
    assert.ok(Math.max(...placed.map(([, { center }]) => center)) + 50 <= breadth + 1e-6);
    for (const [a, one] of placed)
      for (const [b, other] of placed)
        if (a < b && one.start === other.start)
          assert.ok(Math.abs(one.center - other.center) >= 120 - 1e-6, `${a} and ${b} overlap`);
  });

  it('breaks a cycle: the edge that leads back ends at an earlier layer', () => {
    const { nodes, edges } = layered([node('a'), node('b'), node('c')], edgesOf('a>b b>c c>a'), gaps);
    assert.ok((nodes.get('a')?.start ?? 0) < (nodes.get('c')?.start ?? 0));
    const back = edges[2] ?? [];
    assert.ok((back[0]?.[1] ?? 0) > (back.at(-1)?.[1] ?? 0));
  });

  it('leads an edge over several layers beside the nodes between its ends', () => {
    const { nodes, edges } = layered([node('a'), node('b'), node('c')], edgesOf('a>b b>c a>c'), gaps);
    const long = edges[2] ?? [];
    const b = nodes.get('b');
    assert.deepEqual(
      long.slice(1, -1).map(([, along]) => along),
      [b?.start, (b?.start ?? 0) + 40],
    );
    for (const [across] of long.slice(1, -1)) assert.ok(Math.abs(across - (b?.center ?? 0)) >= 50);
  });

  it('has no crossings if an order of the nodes avoids them', () => {
    const layerOf = (id: string) => (id < 'd' ? 0 : 1);
    const nodes = [...'abcdef'].map((id) => node(id, { layer: layerOf(id) }));
    const { nodes: placed } = layered(nodes, edgesOf('a>f b>e c>d'), gaps);
    const order = (ids: string) =>
      [...ids].sort((x, y) => (placed.get(x)?.center ?? 0) - (placed.get(y)?.center ?? 0)).join('');
    const pairs = { a: 'f', b: 'e', c: 'd' } as const;
    assert.equal([...order('abc')].map((id) => pairs[id as 'a']).join(''), order('def'));
  });

  it('leaves out an edge to an unknown node, and one from a node to itself', () => {
    const { edges } = layered([node('a')], edgesOf('a>x a>a'), gaps);
    assert.deepEqual(edges, [[], []]);
  });

  it('without nodes is empty', () => {
    assert.deepEqual(layered([], [], gaps), { nodes: new Map(), edges: [], breadth: 0, depth: 0 });
  });
});
