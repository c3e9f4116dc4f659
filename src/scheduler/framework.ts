/**
 * Scheduling framework: the extension points of a plugin, named as upstream names them, and the data about
 * the whole cluster that plugins receive (k8s.io/kubernetes pkg/scheduler/framework). A plugin is a value
 * with pure functions. The results of its PreFilter and PreScore are passed back to it as `state`.
 */

import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { Labels, Selector } from '../apimachinery/labels.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import type { ClusterEvent } from './cluster-events.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';
import type { CountQuery, DomainCounts } from './topology/domain-counts.ts';
import type { HeldTerm } from './topology/held-terms.ts';
import type { VolumeSources } from './volume-sources.ts';

/**
 * State of the whole cluster. Counts are updated with every change, so that no decision iterates over all
 * pods.
 */
export interface Cluster {
  /** Nodes in the order in which they are evaluated: zones take turns. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Lowest priority of the placed pods; infinite if there are none. */
  readonly lowestPriority: number;
  /** Returns the counts of matching pods by topology domain. */
  counts(query: CountQuery): DomainCounts;
  /** Returns the affinity terms of placed pods that select this pod. */
  termsAbout(pod: Pod): readonly HeldTerm[];
  namespaceLabels(namespace: string): Labels | undefined;
  /**
   * Returns the selector of the pods of the same Services and of the same owner, or undefined if there are
   * none.
   */
  siblingsOf(pod: Pod): Selector | undefined;
  /** Returns unbound pods that are nominated for this node. */
  nominatedOn(node: string): Iterable<PodInfo>;
  /** Returns the number of nodes that have the image. */
  nodesWithImage(name: string): number;
  /** Returns the number of placed pods that use the claim, except the pod with this uid. */
  claimUsers(namespace: string, claim: string, exceptUid: string): number;
  readonly volumes: VolumeSources;
}

/** Reason why a node rejects a pod. `text` is counted in `0/3 nodes are available: …`. */
export interface Rejection {
  readonly plugin: string;
  readonly text: string;
  /** True if the removal of pods from the node would not help. */
  readonly unresolvable?: true;
  /** Set if a resource is insufficient, in the units of Resources. */
  readonly shortage?: { readonly resource: string; readonly requested: number; readonly free: number };
}

/** Result of PreFilter. */
export type PreFiltered<State> =
  /** Filter accepts every node. */
  | 'skip'
  /** All nodes are rejected. */
  | { readonly refused: Rejection }
  /** If `nodes` is set, all other nodes are rejected. */
  | { readonly state: State; readonly nodes?: readonly string[] };

export type PreScored<State> = 'skip' | { readonly state: State };

/** Result of Permit for a pod with a chosen node. */
export type Permission =
  | 'allowed'
  | { readonly refused: Rejection }
  /** The pod waits. Permit is called again whenever the cluster changes, for at most this time. */
  | { readonly waitMs: number };

/** An object to write, against the version that was read. */
export interface Update {
  readonly resource: ResourceRef<KubeObject>;
  readonly object: KubeObject;
}

/** Writes that are required before a pod is bound. An empty list means that the pod only has to wait. */
export type PreBinding = 'done' | { readonly refused: Rejection } | { readonly updates: readonly Update[] };

/** Request to the API server that binds a pod. */
export interface BindRequest {
  readonly subresource: string;
  readonly body: object;
}

export interface Plugin<FilterState = unknown, ScoreState = unknown> {
  readonly name: string;
  preFilter?(pod: PodInfo, cluster: Cluster): PreFiltered<FilterState>;
  /**
   * Returns all rejections at once, so that users see all reasons together. An empty list accepts the node.
   */
  filter?(pod: PodInfo, node: NodeInfo, state: FilterState): readonly Rejection[];
  /**
   * Returns the state with `other` added to the node (1) or removed from it (-1). Omitted if the state does
   * not depend on pods.
   */
  stateWith?(state: FilterState, pod: PodInfo, other: PodInfo, node: NodeInfo, sign: 1 | -1): FilterState;
  /**
   * Returns true if the event may let a pod that this plugin rejected fit a node. If omitted, any event may.
   */
  helps?(event: ClusterEvent, pod: PodInfo, cluster: Cluster): boolean;
  /** Prepares the scores of `nodes`, which all fit the pod. */
  preScore?(pod: PodInfo, nodes: readonly NodeInfo[], cluster: Cluster): PreScored<ScoreState>;
  /** Returns the score; higher is better. The range is 0 to 100, unless `normalize` establishes it. */
  score?(pod: PodInfo, node: NodeInfo, state: ScoreState): number;
  /** Changes the scores in place; they have the order of `nodes`. */
  normalize?(scores: number[], nodes: readonly NodeInfo[], state: ScoreState): void;
  /** Weight of the score; default 1. */
  readonly weight?: number;
  /**
   * Returns a remedy by preemption for an unschedulable pod. The plugins are called in order until one
   * returns a remedy.
   */
  postFilter?(attempt: FailedAttempt): Remedy | undefined;
  /** Returns the reasons why the chosen node cannot be reserved for the pod. */
  reserve?(pod: PodInfo, node: NodeInfo, cluster: Cluster): readonly Rejection[];
  permit?(pod: PodInfo, node: NodeInfo, cluster: Cluster): Permission;
  /** Called again whenever the cluster changes, until it returns 'done'. */
  preBind?(pod: PodInfo, node: NodeInfo, cluster: Cluster): PreBinding;
  /** The plugins are called in order until one returns a request. */
  bind?(pod: PodInfo, node: NodeInfo): BindRequest | undefined;
}

/** A decision without a suitable node, as passed to PostFilter. */
export interface FailedAttempt {
  readonly pod: PodInfo;
  readonly cluster: Cluster;
  /** Rejections of each node. */
  readonly nodes: readonly NodeRejections[];
  /** Node for which the pod is nominated. */
  readonly nominated: string | undefined;
  readonly trial: (node: NodeInfo) => Trial;
  readonly budgets: () => readonly Budget[];
  /** Index in `nodes` at which to begin, so that not always the same nodes are evaluated. */
  readonly offset: number;
}

/** A simulated node, to which pods are added and from which they are removed. */
export interface Trial {
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
  /** Returns true if the pod of the attempt fits now. */
  fits(): boolean;
}

/** A PodDisruptionBudget as preemption reads it. */
export interface Budget {
  readonly namespace: string;
  readonly selector: Selector;
  readonly allowed: number;
  /** Names of the pods that are already counted as disrupted. */
  readonly disrupted: ReadonlySet<string>;
}

export type Remedy =
  /**
   * The pod is nominated for the node after the victims are evicted; victims have the highest priority first.
   */
  | { readonly kind: 'preempt'; readonly node: string; readonly victims: readonly PodInfo[] }
  /** The victims are terminating: the pod has to wait. */
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'none'; readonly why: string };

/** All rejections of a node by all plugins. */
export interface NodeRejections {
  readonly node: string;
  readonly rejections: readonly Rejection[];
}

export const maxScore = 100;

/**
 * Normalizes scores so that the highest becomes 100. With `reverse` the highest becomes 0, and 0 becomes 100.
 */
export function normalizeByMaximum(scores: number[], { reverse = false } = {}): void {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  for (const [index, score] of scores.entries()) {
    const share = most === 0 ? 0 : (score / most) * maxScore;
    scores[index] = reverse ? maxScore - share : share;
  }
}
