/** The dashboards of a release. */
import type { Board } from './board.ts';
import { clusterBoard } from './cluster.ts';
import { controlPlaneBoard } from './control-plane.ts';
import { functionsBoard } from './functions.ts';
import { nodeBoard } from './node.ts';
import { podBoard } from './pod.ts';

export const boards: readonly Board[] = [
  clusterBoard,
  nodeBoard,
  podBoard,
  functionsBoard,
  controlPlaneBoard,
];
