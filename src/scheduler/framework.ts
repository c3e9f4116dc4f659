/**
 * What scheduling is made of: the extension points of a plugin, named as upstream names them, and what a plugin is told of the pod,
 * the nodes and the whole cluster (k8s.io/kubernetes pkg/scheduler/framework). A plugin is a value of pure functions: what it worked
 * out in PreFilter and PreScore comes back to it as `state`.
 */
import type { HostPort } from '../api/core/v1/host-ports.ts';
import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import type { Labels, Selector } from '../apimachinery/labels.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import type { AffinityTerm, WeightedTerm } from './affinity-term.ts';
import type { ClusterEvent } from './cluster-events.ts';
import type { CountQuery, DomainCounts } from './topology/domain-counts.ts';
import type { HeldTerm } from './topology/held-terms.ts';
import type { VolumeSources } from './volume-sources.ts';

/** Amounts by resource name: cpu in thousandths of a core, all others in whole units (bytes). */
export type Resources = ReadonlyMap<string, number>;

/** What a pod takes of a node, and what it asks of its neighbours, computed once. */
export interface PodInfo {
  readonly pod: Pod;
  readonly priority: number;
  readonly requests: Resources;
  /** As `requests`, with typical amounts where it asks for no cpu or memory: for scores only. */
  readonly weighed: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** Anti-affinity that is only preferred has negative weights. */
  readonly preferred: readonly WeightedTerm[];
  /** Names of the claims of its namespace that its volumes use. */
  readonly claims: readonly string[];
}

/** A node with all that is bound to it or about to be. */
export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly allocatable: Resources;
  readonly requested: Resources;
  /** The sum of the pods' `weighed`. */
  readonly weighed: Resources;
  readonly podCount: number;
  readonly hostPorts: readonly HostPort[];
  /** By uid. */
  readonly pods: ReadonlyMap<string, PodInfo>;
  /** Bytes by name. */
  readonly images: ReadonlyMap<string, number>;
}

/** What is known of the whole cluster. Counts follow every change by themselves: no decision walks over all pods. */
export interface Cluster {
  /** In the order in which they are looked at: zones take turns. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Of the pods that have a node; infinite where there is none. */
  readonly lowestPriority: number;
  /** The pods that match, by domain of a topology. */
  counts(query: CountQuery): DomainCounts;
  /** The terms of pods that have a node, for which this pod is one of those they speak of. */
  termsAbout(pod: Pod): readonly HeldTerm[];
  namespaceLabels(namespace: string): Labels | undefined;
  /** What picks the pods of the same Services and of the same owner; undefined for a pod of none. */
  siblingsOf(pod: Pod): Selector | undefined;
  /** Pods without a node that wait on this one for others to go. */
  nominatedOn(node: string): Iterable<PodInfo>;
  /** On how many nodes an image is. */
  nodesWithImage(name: string): number;
  /** How many pods that have a node use the claim; other than the one with this uid. */
  claimUsers(namespace: string, claim: string, exceptUid: string): number;
  readonly volumes: VolumeSources;
}

/** Why one node cannot take one pod. `text` is what people count in `0/3 nodes are available: …`. */
export interface Rejection {
  readonly plugin: string;
  readonly text: string;
  /** No pod of the node that goes would change it. */
  readonly unresolvable?: true;
  /** Set when something runs short: in the units of Resources. */
  readonly shortage?: { readonly resource: string; readonly requested: number; readonly free: number };
}

/** What PreFilter makes of a pod. */
export type PreFiltered<State> =
  /** Filter has nothing to say about any node. */
  | 'skip'
  /** No node will do. */
  | { readonly refused: Rejection }
  /** `nodes`: no other node can do. */
  | { readonly state: State; readonly nodes?: readonly string[] };

export type PreScored<State> = 'skip' | { readonly state: State };

/** What Permit makes of a pod that has a node in mind. */
export type Permission =
  | 'allowed'
  | { readonly refused: Rejection }
  /** Asked again whenever the cluster changes, at most so long. */
  | { readonly waitMs: number };

/** An object as it is to be, written against the version that was read. */
export interface Update {
  readonly resource: ResourceRef<KubeObject>;
  readonly object: KubeObject;
}

/** What is to be written before a pod is bound; without any there is only something to wait for. */
export type PreBinding = 'done' | { readonly refused: Rejection } | { readonly updates: readonly Update[] };

/** Sent to the API server to bind a pod. */
export interface BindRequest {
  readonly subresource: string;
  readonly body: object;
}

export interface Plugin<FilterState = unknown, ScoreState = unknown> {
  readonly name: string;
  preFilter?(pod: PodInfo, cluster: Cluster): PreFiltered<FilterState>;
  /** All reasons at once, so that nobody fixes one only to meet the next; none means that the node will do. */
  filter?(pod: PodInfo, node: NodeInfo, state: FilterState): readonly Rejection[];
  /** The state as it is with `other` on the node (1), or without it (-1); left out where it does not depend on pods. */
  stateWith?(state: FilterState, pod: PodInfo, other: PodInfo, node: NodeInfo, sign: 1 | -1): FilterState;
  /** Whether a pod that this plugin kept from a node may get one by what has happened; left out: by anything. */
  helps?(event: ClusterEvent, pod: PodInfo, cluster: Cluster): boolean;
  /** `nodes` are those that can take the pod. */
  preScore?(pod: PodInfo, nodes: readonly NodeInfo[], cluster: Cluster): PreScored<ScoreState>;
  /** More is better; 0 to 100 unless `normalize` makes it so. */
  score?(pod: PodInfo, node: NodeInfo, state: ScoreState): number;
  /** Changes the scores of `nodes`, which are in their order. */
  normalize?(scores: number[], nodes: readonly NodeInfo[], state: ScoreState): void;
  /** How much its score counts; default 1. */
  readonly weight?: number;
  /** How a pod that fits nowhere can be helped by taking pods away; asked in order until one knows. */
  postFilter?(attempt: FailedAttempt): Remedy | undefined;
  /** What keeps the node from being taken for the pod after all. */
  reserve?(pod: PodInfo, node: NodeInfo, cluster: Cluster): readonly Rejection[];
  permit?(pod: PodInfo, node: NodeInfo, cluster: Cluster): Permission;
  /** Asked again whenever the cluster changes, until it is done. */
  preBind?(pod: PodInfo, node: NodeInfo, cluster: Cluster): PreBinding;
  /** Asked in order until one knows. */
  bind?(pod: PodInfo, node: NodeInfo): BindRequest | undefined;
}

/** A decision that found no node, as PostFilter sees it. */
export interface FailedAttempt {
  readonly pod: PodInfo;
  readonly cluster: Cluster;
  /** Why each node cannot take it. */
  readonly nodes: readonly NodeRejections[];
  /** The node on which the pod waits for others to go. */
  readonly nominated: string | undefined;
  readonly trial: (node: NodeInfo) => Trial;
  readonly budgets: () => readonly Budget[];
  /** At which of `nodes` to begin, so that not always the same are looked at. */
  readonly offset: number;
}

/** A node on which pods come and go in thought. */
export interface Trial {
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
  /** Whether the pod of the attempt would fit now. */
  fits(): boolean;
}

/** A disruption budget as preemption reads it. */
export interface Budget {
  readonly namespace: string;
  readonly selector: Selector;
  readonly allowed: number;
  /** Names of the pods that are counted as disrupted already. */
  readonly disrupted: ReadonlySet<string>;
}

export type Remedy =
  /** The pod may go to the node when the victims have gone; highest priority first. */
  | { readonly kind: 'preempt'; readonly node: string; readonly victims: readonly PodInfo[] }
  /** The victims are on their way: nothing but wait. */
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'none'; readonly why: string };

/** Why a node cannot take the pod: every reason of every plugin. */
export interface NodeRejections {
  readonly node: string;
  readonly rejections: readonly Rejection[];
}

export const maxScore = 100;

/** Scores so that the highest becomes 100; `reverse`: so that the highest becomes 0 and 0 becomes 100. */
export function normalizeByMaximum(scores: number[], { reverse = false } = {}): void {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  for (const [index, score] of scores.entries()) {
    const share = most === 0 ? 0 : (score / most) * maxScore;
    scores[index] = reverse ? maxScore - share : share;
  }
}
