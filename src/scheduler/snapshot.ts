/**
 * What is known of all nodes, kept up to date pod by pod, so that one decision costs no more than a look at each
 * node. An assumed pod counts on its node from the decision on, before the server has confirmed the binding.
 */

import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { isPodTerminal } from '../api/core/v1/pod-conditions.ts';
import type { HostPort, NodeInfo, PodInfo, Resources } from './framework.ts';
import { allocatable, podInfo } from './pod-info.ts';

/** What the pods of one node take, whether the node itself is known or not. */
interface Taken {
  node: Node | undefined;
  allocatable: Resources;
  readonly requested: Map<string, number>;
  readonly weighed: Map<string, number>;
  podCount: number;
  hostPorts: readonly HostPort[];
}

interface Placed {
  readonly info: PodInfo;
  readonly nodeName: string;
  readonly assumed: boolean;
}

export class Snapshot {
  /** By name. */
  readonly #taken = new Map<string, Taken>();
  /** By uid: every pod that takes something of a node, whether the node is known or not. */
  readonly #pods = new Map<string, Placed>();
  #freed = false;

  get nodes(): readonly NodeInfo[] {
    return [...this.#taken.values()].filter((taken): taken is Taken & NodeInfo => taken.node !== undefined);
  }

  setNode(node: Node): void {
    const taken = this.#takenOf(node.metadata.name);
    taken.node = node;
    taken.allocatable = allocatable(node);
  }

  removeNode(name: string): void {
    this.#takenOf(name).node = undefined;
    this.#tidy(name);
  }

  /** A pod as the server shows it: on its node, or on none when it is not bound or has run to its end. */
  setPod(pod: Pod): void {
    const { uid } = pod.metadata;
    const over = isPodTerminal(pod);
    if (pod.spec.nodeName && !over) this.#place(pod, pod.spec.nodeName, false);
    // The server does not know of an assumption yet, so that it shows the pod unbound means nothing.
    else if (over || !this.#pods.get(uid)?.assumed) this.removePod(uid);
  }

  removePod(uid: string): void {
    if (this.#unplace(uid)) this.#freed = true;
  }

  assume(pod: Pod, nodeName: string): void {
    this.#place(pod, nodeName, true);
  }

  /** Takes an assumption back; a pod that the server has shown on a node stays. */
  forget(uid: string): void {
    if (this.#pods.get(uid)?.assumed) this.removePod(uid);
  }

  /** Whether the pod has a node, assumed or confirmed. */
  isPlaced(uid: string): boolean {
    return this.#pods.has(uid);
  }

  /** Whether a pod has left its node since this was asked last. */
  takeFreed(): boolean {
    const freed = this.#freed;
    this.#freed = false;
    return freed;
  }

  #place(pod: Pod, nodeName: string, assumed: boolean): void {
    const { uid } = pod.metadata;
    const before = this.#unplace(uid);
    if (before && before.nodeName !== nodeName) this.#freed = true;
    const info = podInfo(pod);
    this.#pods.set(uid, { info, nodeName, assumed });
    const taken = this.#takenOf(nodeName);
    count(taken, info, 1);
    taken.hostPorts = [...taken.hostPorts, ...info.hostPorts];
  }

  #unplace(uid: string): Placed | undefined {
    const placed = this.#pods.get(uid);
    if (!placed) return undefined;
    const { info, nodeName } = placed;
    this.#pods.delete(uid);
    const taken = this.#takenOf(nodeName);
    count(taken, info, -1);
    // The very ones that were put in, not others like them.
    taken.hostPorts = taken.hostPorts.filter((port) => !info.hostPorts.includes(port));
    this.#tidy(nodeName);
    return placed;
  }

  #takenOf(nodeName: string): Taken {
    const known = this.#taken.get(nodeName);
    if (known) return known;
    const taken: Taken = {
      node: undefined,
      allocatable: new Map(),
      requested: new Map(),
      weighed: new Map(),
      podCount: 0,
      hostPorts: [],
    };
    this.#taken.set(nodeName, taken);
    return taken;
  }

  /** Nothing is kept of a node that is gone, once its pods are. */
  #tidy(nodeName: string): void {
    const { node, podCount } = this.#takenOf(nodeName);
    if (!node && podCount === 0) this.#taken.delete(nodeName);
  }
}

function count(taken: Taken, info: PodInfo, sign: 1 | -1): void {
  taken.podCount += sign;
  add(taken.requested, info.requests, sign);
  add(taken.weighed, info.weighed, sign);
}

function add(total: Map<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + sign * amount);
}
