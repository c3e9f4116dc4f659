/** The parts of the picture of the topology. Pure. */
import type { PodHealth } from '../../../pods/plan/pod-phase.ts';

export type Health = 'good' | 'waiting' | 'bad' | 'idle';

export interface TopologyNode {
  readonly id: string;
  /** 0 for Gateways, 1 for routes, 2 for Services, 3 for pods, 4 for nodes. */
  readonly column: 0 | 1 | 2 | 3 | 4;
  readonly title: string;
  readonly detail: string;
  readonly health: Health;
  /** Key of the kind, and the place of the object that the box stands for. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** States of the pods of a group. */
  readonly pods?: readonly PodHealth[];
}

export interface TopologyEdge {
  readonly from: string;
  readonly to: string;
  readonly health: Health;
  /** Connections per second; absent where there are none, or where they are not counted. */
  readonly perSecond?: number;
}
