/** Graphs to lay out. Pure. */

export interface GraphNode {
  readonly id: string;
  /** Extent across the layers, and along the direction of the layers. */
  readonly breadth: number;
  readonly depth: number;
  /** Layer of the node; computed from the edges unless every node has one. */
  readonly layer?: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

/** A node, or the place where an edge crosses a layer. */
export interface Slot {
  readonly id: string;
  readonly breadth: number;
  readonly depth: number;
  /** True for the place of an edge. */
  readonly isPassing?: true;
}

export interface ForwardEdge extends GraphEdge {
  readonly index: number;
  /** True for an edge that was turned around to break a cycle. */
  readonly isReversed: boolean;
}
