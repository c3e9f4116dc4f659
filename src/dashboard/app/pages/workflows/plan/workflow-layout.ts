/** The states of a workflow as boxes and arrows; a Parallel or a Map contains those of its branches. Pure. */
import type { Machine } from '../../../../../states-language/definition/types.ts';
import { type Graph, graphOf, type Node } from '../../../../../states-language/graph/edges.ts';
import { layered } from '../../../graph/plan/layered.ts';

export interface StateBox {
  /** Names of the state and of those that contain it, as a list of JSON. */
  readonly id: string;
  readonly name: string;
  readonly type: Node['type'];
  readonly isStart: boolean;
  readonly ends: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** True for a state whose branches are drawn within it. */
  readonly isFrame: boolean;
}

export interface StateArrow {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly label: string;
}

export interface WorkflowLayout {
  readonly boxes: readonly StateBox[];
  readonly arrows: readonly StateArrow[];
  readonly width: number;
  readonly height: number;
}

const [boxHeight, minWidth, charWidth, padding, titleHeight] = [46, 150, 8.2, 16, 34];
const gaps = { between: 28, layers: 46 };

export const workflowLayout = (machine: Machine): WorkflowLayout => layoutOf(graphOf(machine), []);

interface Part {
  readonly node: Node;
  readonly width: number;
  readonly height: number;
  readonly inner: readonly WorkflowLayout[];
}

function layoutOf(graph: Graph, path: readonly string[]): WorkflowLayout {
  const parts = graph.nodes.map((node) => partOf(node, [...path, node.name]));
  const { nodes, edges, breadth, depth } = layered(
    parts.map(({ node, width, height }) => ({ id: node.name, breadth: width, depth: height })),
    graph.edges,
    gaps,
  );
  const boxes: StateBox[] = [];
  const arrows: StateArrow[] = graph.edges.map(({ label }, i) => ({ points: edges[i] ?? [], label }));
  for (const part of parts) {
    const { node, width, height, inner } = part;
    const place = nodes.get(node.name);
    if (!place) continue;
    const [x, y] = [place.center - width / 2, place.start];
    const id = JSON.stringify([...path, node.name]);
    const { name, type, ends } = node;
    boxes.push({
      ...{ id, name, type, ends, isStart: name === graph.start },
      ...{ x, y, width, height, isFrame: inner.length > 0 },
    });
    let at = x + padding;
    for (const layout of inner) {
      const moved = shifted(layout, at, y + titleHeight + padding);
      boxes.push(...moved.boxes);
      arrows.push(...moved.arrows);
      at += layout.width + gaps.between;
    }
  }
  return { boxes, arrows: arrows.filter(({ points }) => points.length > 1), width: breadth, height: depth };
}

function partOf(node: Node, path: readonly string[]): Part {
  const inner = node.groups.map(({ graph }) => layoutOf(graph, path));
  const own = Math.max(minWidth, node.name.length * charWidth + 2 * padding);
  if (inner.length === 0) return { node, width: own, height: boxHeight, inner };
  const across = inner.reduce((sum, { width }) => sum + width + gaps.between, -gaps.between);
  const tallest = inner.reduce((most, { height }) => Math.max(most, height), 0);
  return {
    node,
    width: Math.max(own, across + 2 * padding),
    height: titleHeight + tallest + 2 * padding,
    inner,
  };
}

const shifted = ({ boxes, arrows, ...size }: WorkflowLayout, dx: number, dy: number): WorkflowLayout => ({
  ...size,
  boxes: boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy })),
  arrows: arrows.map(({ points, label }) => ({
    label,
    points: points.map(([x, y]) => [x + dx, y + dy] as const),
  })),
});
