/**
 * What scheduling is made of. A filter says why a node cannot take a pod, a score says how well it would suit;
 * both are pure functions of the pod and what is known of the node (k8s.io/kubernetes pkg/scheduler/framework).
 */
import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';

/** Amounts by resource name: cpu in thousandths of a core, all others in whole units (bytes). */
export type Resources = ReadonlyMap<string, number>;

export interface HostPort {
  /** Undefined for all addresses of the node. */
  readonly ip: string | undefined;
  readonly protocol: string;
  readonly port: number;
}

/** What a pod takes of a node, computed once. */
export interface PodInfo {
  readonly pod: Pod;
  readonly requests: Resources;
  /** As `requests`, with typical amounts where it asks for no cpu or memory: for scores only. */
  readonly weighed: Resources;
  readonly hostPorts: readonly HostPort[];
}

/** A node with all that is bound to it or about to be. */
export interface NodeInfo {
  readonly node: Node;
  readonly allocatable: Resources;
  readonly requested: Resources;
  /** The sum of the pods' `weighed`. */
  readonly weighed: Resources;
  readonly podCount: number;
  readonly hostPorts: readonly HostPort[];
}

/** Why one node cannot take one pod. `text` is what people count in `0/3 nodes are available: …`. */
export interface Rejection {
  readonly plugin: string;
  readonly text: string;
  /** Set when something runs short: in the units of Resources. */
  readonly shortage?: { readonly resource: string; readonly requested: number; readonly free: number };
}

/** All reasons at once, so that nobody fixes one only to meet the next; none means that the node will do. */
export type Filter = (pod: PodInfo, node: NodeInfo) => readonly Rejection[];

/** 0 to 100, more is better. */
export type Score = (pod: PodInfo, node: NodeInfo) => number;

export interface Plugin {
  readonly name: string;
  readonly filter: Filter;
  readonly score?: Score;
}

export const maxScore = 100;
