/** Data about a node and its pods that plugins receive: amounts, ports and terms, computed once. */

import type { Node } from '../api/core/v1/node/node.ts';
import type { HostPort } from '../api/core/v1/pod/host-ports.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { AffinityTerm, WeightedTerm } from './affinity-term.ts';

/** Amounts by resource name: cpu in thousandths of a core, all others in whole units (bytes). */
export type Resources = ReadonlyMap<string, number>;

/** Requests and affinity terms of a pod, computed once. */
export interface PodInfo {
  readonly pod: Pod;
  readonly priority: number;
  readonly requests: Resources;
  /** Like `requests`, with default amounts if the pod requests no cpu or memory. Used for scores only. */
  readonly weighed: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** Preferred terms; preferred anti-affinity has negative weights. */
  readonly preferred: readonly WeightedTerm[];
  /** Names of the claims that the pod's volumes use. */
  readonly claims: readonly string[];
}

/** A node with all pods that are bound to it or assumed on it. */
export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly allocatable: Resources;
  readonly requested: Resources;
  /** Sum of the pods' `weighed`. */
  readonly weighed: Resources;
  readonly podCount: number;
  readonly hostPorts: readonly HostPort[];
  /** Pods by uid. */
  readonly pods: ReadonlyMap<string, PodInfo>;
  /** Size of the images in bytes, by name. */
  readonly images: ReadonlyMap<string, number>;
}
