/**
 * State of the cluster, updated in place as nodes and pods change, so that a decision never iterates over all
 * pods. An assumed pod counts on its node from the decision on, before the server has confirmed the binding.
 */

import type { Node } from '../api/core/v1/node/node.ts';
import { isPodTerminal } from '../api/core/v1/pod/conditions.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import { podRequests } from '../api/core/v1/pod/requests.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import type { Labels, Selector } from '../apimachinery/labels.ts';
import { type ClusterEvent, nodeChanges } from './cluster-events.ts';
import type { Cluster } from './framework.ts';
import type { NodeInfo, PodInfo, Resources } from './node-info.ts';
import { inTurns, zoneOf } from './node-order.ts';
import { NodeState } from './node-state.ts';
import { Nominations } from './nominations.ts';
import { PlacedPods } from './placed-pods.ts';
import { podInfo } from './pod-info.ts';
import type { CountQuery, DomainCounts } from './topology/domain-counts.ts';
import { type HeldTerm, HeldTerms } from './topology/held-terms.ts';
import { LiveCounts } from './topology/live-counts.ts';
import type { VolumeSources } from './volume-sources.ts';

/** Data that the snapshot does not hold itself. */
export interface Sources {
  namespaceLabels(namespace: string): Labels | undefined;
  siblingsOf(pod: Pod): Selector | undefined;
  readonly volumes: VolumeSources;
}

const noSources: Sources = {
  namespaceLabels: () => undefined,
  siblingsOf: () => undefined,
  volumes: {
    claim: () => undefined,
    volumesFor: () => [],
    volume: () => undefined,
    storageClass: () => undefined,
  },
};

export class Snapshot implements Cluster {
  readonly nominations = new Nominations();
  readonly volumes: VolumeSources;
  readonly #sources: Sources;
  readonly #onEvent: (event: ClusterEvent) => void;
  readonly #nodes = new Map<string, NodeState>();
  #order: readonly NodeState[] | undefined;
  readonly #placed = new PlacedPods();
  readonly #held: HeldTerms;
  readonly #counts: LiveCounts;
  readonly #imageNodes = new Map<string, number>();
  #generation = 0;

  constructor(sources: Sources = noSources, onEvent: (event: ClusterEvent) => void = () => {}) {
    this.#sources = sources;
    this.#onEvent = onEvent;
    this.volumes = sources.volumes;
    const ofNamespace = (name: string) => this.namespaceLabels(name);
    this.#held = new HeldTerms(ofNamespace);
    this.#counts = new LiveCounts(this.#placements(), ofNamespace);
  }

  /** Number that changes whenever a decision may have another result than before. */
  get generation(): number {
    return this.#generation;
  }

  get nodes(): readonly NodeInfo[] {
    this.#order ??= inTurns(this.#nodes.values());
    return this.#order;
  }

  node(name: string): NodeState | undefined {
    return this.#nodes.get(name);
  }

  get lowestPriority(): number {
    return this.#placed.lowestPriority;
  }

  counts(query: CountQuery): DomainCounts {
    return this.#counts.of(query);
  }

  termsAbout(pod: Pod): readonly HeldTerm[] {
    return this.#held.about(pod);
  }

  namespaceLabels(namespace: string): Labels | undefined {
    return this.#sources.namespaceLabels(namespace);
  }

  siblingsOf(pod: Pod): Selector | undefined {
    return this.#sources.siblingsOf(pod);
  }

  nominatedOn(node: string): Iterable<PodInfo> {
    return this.nominations.on(node);
  }

  nodesWithImage(name: string): number {
    return this.#imageNodes.get(name) ?? 0;
  }

  claimUsers(namespace: string, claim: string, exceptUid: string): number {
    return this.#placed.claimUsers(namespace, claim, exceptUid);
  }

  setNode(node: Node): void {
    const { name } = node.metadata;
    const known = this.#nodes.get(name);
    if (!known) {
      this.#addNode(node);
      return;
    }
    const before = known.node;
    const changed = nodeChanges(before, node);
    const moved = changed.has('labels');
    if (moved) this.#countTerms(known, -1);
    this.#countImages(known, -1);
    known.setNode(node);
    this.#countImages(known, 1);
    if (moved) this.#countTerms(known, 1);
    if (moved || changed.has('taints')) this.#counts.setNode(node);
    if (moved && zoneOf({ node: before }) !== zoneOf(known)) this.#order = undefined;
    if (changed.size > 0) this.#notify({ kind: 'nodeChanged', node: known, changed });
  }

  removeNode(name: string): void {
    const known = this.#nodes.get(name);
    if (!known) return;
    this.#countTerms(known, -1);
    this.#countImages(known, -1);
    this.#counts.removeNode(name);
    this.#nodes.delete(name);
    this.#order = undefined;
    this.#notify({ kind: 'nodeRemoved', before: known.node });
  }

  /** Updates the counts after the labels of a namespace have changed. */
  namespaceChanged(namespace: string): void {
    this.#counts.forgetNamespaceSelections();
    this.#notify({ kind: 'namespaceChanged', namespace });
  }

  storageChanged(): void {
    this.#notify({ kind: 'storageChanged' });
  }

  /**
   * Updates a pod to the state that the server reports: on its node, or on none if it is not bound or has
   * ended.
   */
  setPod(pod: Pod): void {
    const { uid } = pod.metadata;
    const over = isPodTerminal(pod);
    if (pod.spec.nodeName && !over) this.#place(pod, pod.spec.nodeName, false);
    // An unbound pod may be assumed, which the server does not report yet.
    else if (over) this.removePod(uid);
    else if (!this.#placed.get(uid)?.assumed) this.#release(uid);
  }

  removePod(uid: string): void {
    this.endNomination(uid);
    this.#release(uid);
  }

  /** Releases the resources of the pod on its node. */
  #release(uid: string): void {
    const placed = this.#placed.get(uid);
    if (!placed) return;
    const { info, nodeName } = placed;
    this.#unplace(info, nodeName);
    this.#notify({ kind: 'podRemoved', pod: info, nodeName, node: this.#nodes.get(nodeName) });
  }

  assume(pod: Pod, nodeName: string): void {
    this.#place(pod, nodeName, true);
  }

  /** Reverts an assumption. A pod that the server has reported on a node is kept. */
  forget(uid: string): void {
    if (this.#placed.get(uid)?.assumed) this.#release(uid);
  }

  /** Returns true if the pod has a node, assumed or confirmed. */
  isPlaced(uid: string): boolean {
    return this.#placed.get(uid) !== undefined;
  }

  nominate(pod: PodInfo, node: string): void {
    const before = this.nominations.nodeOf(pod.pod.metadata.uid);
    this.nominations.set(pod, node);
    this.#generation++;
    if (before !== undefined && before !== node) this.#nominationEnded(before);
  }

  endNomination(uid: string): void {
    const nodeName = this.nominations.delete(uid);
    if (nodeName !== undefined) this.#nominationEnded(nodeName);
  }

  #notify(event: ClusterEvent): void {
    this.#generation++;
    this.#onEvent(event);
  }

  #nominationEnded(nodeName: string): void {
    this.#notify({ kind: 'nominationEnded', nodeName, node: this.#nodes.get(nodeName) });
  }

  #addNode(node: Node): void {
    const state = new NodeState(node);
    for (const info of this.#placed.on(state.name)) state.add(info);
    this.#nodes.set(state.name, state);
    this.#order = undefined;
    this.#countTerms(state, 1);
    this.#countImages(state, 1);
    this.#counts.setNode(node);
    for (const info of state.pods.values()) this.#counts.countPod(info.pod, node, 1);
    this.#notify({ kind: 'nodeAdded', node: state });
  }

  #place(pod: Pod, nodeName: string, assumed: boolean): void {
    const { uid } = pod.metadata;
    this.nominations.delete(uid);
    const before = this.#placed.get(uid);
    const stays = before?.nodeName === nodeName;
    const node = this.#nodes.get(nodeName);
    if (stays && !countsOtherwise(before.info, pod)) {
      const info = { ...before.info, pod };
      this.#placed.set({ info, nodeName, assumed });
      node?.pods.set(uid, info);
      return;
    }
    const info = podInfo(pod);
    if (before) this.#unplace(before.info, before.nodeName);
    this.#placed.set({ info, nodeName, assumed });
    if (node) {
      node.add(info);
      this.#held.count(info, node.node, 1);
      this.#counts.countPod(pod, node.node, 1);
    }
    if (stays) {
      this.#notify({ kind: 'podChanged', pod: info, before: before.info, nodeName, node });
      return;
    }
    if (before) {
      const left = { nodeName: before.nodeName, node: this.#nodes.get(before.nodeName) };
      this.#notify({ kind: 'podRemoved', pod: before.info, ...left });
    }
    this.#notify({ kind: 'podPlaced', pod: info, nodeName });
  }

  #unplace(info: PodInfo, nodeName: string): void {
    this.#placed.delete(info.pod.metadata.uid);
    const node = this.#nodes.get(nodeName);
    if (!node) return;
    node.remove(info);
    this.#held.count(info, node.node, -1);
    this.#counts.countPod(info.pod, node.node, -1);
  }

  #countTerms(state: NodeState, sign: 1 | -1): void {
    for (const info of state.pods.values()) this.#held.count(info, state.node, sign);
  }

  #countImages({ images }: NodeState, sign: 1 | -1): void {
    for (const name of images.keys()) {
      const count = (this.#imageNodes.get(name) ?? 0) + sign;
      if (count === 0) this.#imageNodes.delete(name);
      else this.#imageNodes.set(name, count);
    }
  }

  #placements() {
    const [nodes, placed] = [this.#nodes, this.#placed];
    return {
      get knownNodes() {
        return [...nodes.values()].map(({ node }) => node);
      },
      get namespaces() {
        return placed.namespaces;
      },
      *podsIn(namespace: string) {
        for (const { pod, node: name } of placed.in(namespace)) {
          const node = nodes.get(name)?.node;
          if (node) yield { pod, node };
        }
      },
    };
  }
}

/**
 * Returns true if the change of a placed pod affects other pods. Affinity and ports do not change once a pod
 * has a node. Requests also depend on the status, during an in-place resize.
 */
const countsOtherwise = (before: PodInfo, now: Pod) =>
  (before.pod.metadata.deletionTimestamp === undefined) !== (now.metadata.deletionTimestamp === undefined) ||
  !deepEqual(before.pod.metadata.labels, now.metadata.labels) ||
  !sameAmounts(before.requests, podRequests(now));

const sameAmounts = (one: Resources, other: Resources) =>
  one.size === other.size && one.entries().every(([name, amount]) => other.get(name) === amount);
