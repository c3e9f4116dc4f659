/** A node with the resource usage of its pods, updated by additions and removals. */

import type { Node } from '../api/core/v1/node/node.ts';
import type { HostPort } from '../api/core/v1/pod/host-ports.ts';
import type { NodeInfo, PodInfo, Resources } from './node-info.ts';
import { allocatable } from './pod-info.ts';

export class NodeState implements NodeInfo {
  readonly name: string;
  node: Node;
  allocatable: Resources;
  images: ReadonlyMap<string, number>;
  readonly requested = new Map<string, number>();
  readonly weighed = new Map<string, number>();
  readonly pods = new Map<string, PodInfo>();
  hostPorts: readonly HostPort[] = [];

  constructor(node: Node, known?: Pick<NodeInfo, 'allocatable' | 'images'>) {
    this.name = node.metadata.name;
    this.node = node;
    this.allocatable = known?.allocatable ?? allocatable(node);
    this.images = known?.images ?? imagesOf(node);
  }

  get podCount(): number {
    return this.pods.size;
  }

  /** Updates the Node object of the same machine. */
  setNode(node: Node): void {
    this.node = node;
    this.allocatable = allocatable(node);
    this.images = imagesOf(node);
  }

  static copyOf(other: NodeInfo): NodeState {
    const copy = new NodeState(other.node, other);
    for (const [uid, pod] of other.pods) copy.pods.set(uid, pod);
    for (const [name, amount] of other.requested) copy.requested.set(name, amount);
    for (const [name, amount] of other.weighed) copy.weighed.set(name, amount);
    copy.hostPorts = other.hostPorts;
    return copy;
  }

  /** Adds a pod, which must not be present. */
  add(pod: PodInfo): void {
    this.pods.set(pod.pod.metadata.uid, pod);
    change(this.requested, pod.requests, 1);
    change(this.weighed, pod.weighed, 1);
    if (pod.hostPorts.length > 0) this.hostPorts = [...this.hostPorts, ...pod.hostPorts];
  }

  /** Removes a pod, which must be present. */
  remove(pod: PodInfo): void {
    this.pods.delete(pod.pod.metadata.uid);
    change(this.requested, pod.requests, -1);
    change(this.weighed, pod.weighed, -1);
    // Removes the identical entries, not merely equal ones.
    if (pod.hostPorts.length > 0)
      this.hostPorts = this.hostPorts.filter((port) => !pod.hostPorts.includes(port));
  }
}

function change(total: Map<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + sign * amount);
}

function imagesOf(node: Node): ReadonlyMap<string, number> {
  const images = new Map<string, number>();
  for (const { names = [], sizeBytes = 0 } of node.status?.images ?? [])
    for (const name of names) images.set(name, sizeBytes);
  return images;
}
