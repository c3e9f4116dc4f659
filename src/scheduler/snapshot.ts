/**
 * What is known of all nodes, kept up to date pod by pod, so that one decision costs no more than a look at each
 * node. An assumed pod counts on its node from the decision on, before the server has confirmed the binding.
 */

import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { isPodTerminal } from '../api/core/v1/pod-conditions.ts';
import type { NodeInfo, PodInfo, Resources } from './framework.ts';
import { allocatable, podInfo } from './pod-info.ts';

interface MutableNodeInfo extends NodeInfo {
  node: Node;
  allocatable: Resources;
  readonly requested: Map<string, number>;
  readonly weighed: Map<string, number>;
  podCount: number;
  hostPorts: PodInfo['hostPorts'][number][];
}

interface Placed {
  readonly info: PodInfo;
  readonly nodeName: string;
  readonly assumed: boolean;
}

export class Snapshot {
  readonly #nodes = new Map<string, MutableNodeInfo>();
  /** By uid: every pod that takes something of a node, whether the node is known or not. */
  readonly #pods = new Map<string, Placed>();
  /** Uids of the pods on each node. */
  readonly #onNode = new Map<string, Set<string>>();

  get nodes(): readonly NodeInfo[] {
    return [...this.#nodes.values()];
  }

  setNode(node: Node): void {
    const { name } = node.metadata;
    const known = this.#nodes.get(name);
    if (known) {
      known.node = node;
      known.allocatable = allocatable(node);
      return;
    }
    const info: MutableNodeInfo = {
      node,
      allocatable: allocatable(node),
      requested: new Map(),
      weighed: new Map(),
      podCount: 0,
      hostPorts: [],
    };
    this.#nodes.set(name, info);
    for (const uid of this.#onNode.get(name) ?? []) {
      const placed = this.#pods.get(uid);
      if (placed) count(info, placed.info, 1);
    }
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
  }

  /** A pod as the server shows it: on its node, or on none when it is not bound or has run to its end. */
  setPod(pod: Pod): void {
    const { uid } = pod.metadata;
    const over = isPodTerminal(pod);
    const placed = this.#pods.get(uid);
    if (pod.spec.nodeName && !over) this.#place(pod, pod.spec.nodeName, false);
    // The server does not know of an assumption yet, so that it shows the pod unbound means nothing.
    else if (over || !placed?.assumed) this.removePod(uid);
  }

  removePod(uid: string): void {
    const placed = this.#pods.get(uid);
    if (!placed) return;
    this.#pods.delete(uid);
    const uids = this.#onNode.get(placed.nodeName);
    uids?.delete(uid);
    if (uids?.size === 0) this.#onNode.delete(placed.nodeName);
    const node = this.#nodes.get(placed.nodeName);
    if (node) count(node, placed.info, -1);
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

  #place(pod: Pod, nodeName: string, assumed: boolean): void {
    const { uid } = pod.metadata;
    this.removePod(uid);
    const info = podInfo(pod);
    this.#pods.set(uid, { info, nodeName, assumed });
    const uids = this.#onNode.get(nodeName) ?? new Set();
    this.#onNode.set(nodeName, uids.add(uid));
    const node = this.#nodes.get(nodeName);
    if (node) count(node, info, 1);
  }
}

function count(node: MutableNodeInfo, info: PodInfo, sign: 1 | -1): void {
  node.podCount += sign;
  add(node.requested, info.requests, sign);
  add(node.weighed, info.weighed, sign);
  if (sign > 0) node.hostPorts.push(...info.hostPorts);
  else for (const port of info.hostPorts) removeOne(node.hostPorts, port);
}

function add(total: Map<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + sign * amount);
}

function removeOne(ports: PodInfo['hostPorts'][number][], port: PodInfo['hostPorts'][number]): void {
  const index = ports.findIndex(
    (other) => other.ip === port.ip && other.protocol === port.protocol && other.port === port.port,
  );
  if (index >= 0) ports.splice(index, 1);
}
