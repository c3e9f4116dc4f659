/** Groups the pods of a DaemonSet by node: the facts on which its plans are based. Pure. */
import type { DaemonSet } from '../../../api/apps/v1/daemon-set.ts';
import type { Node } from '../../../api/core/v1/node/node.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { type NodeFit, nodeOf } from './daemon-nodes-plan.ts';

/** Facts on which the plan of a DaemonSet is based. */
export interface Daemons {
  readonly set: DaemonSet;
  /** Hash label of the pods of the current template. */
  readonly hash: string;
  /** Every node, with its fit for the template. */
  readonly fits: ReadonlyMap<string, NodeFit>;
  /** Pods of the set by node. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly now: number;
}

export function daemonsOf(
  set: DaemonSet,
  hash: string,
  nodes: readonly Node[],
  fit: (node: Node) => NodeFit,
  owned: readonly Pod[],
  now: number,
): Daemons {
  const fits = new Map(nodes.map((node) => [node.metadata.name, fit(node)]));
  const pods = new Map<string, Pod[]>();
  for (const pod of owned) {
    // A terminating pod that has ended blocks nothing here.
    if (isPodTerminal(pod) && isTerminating(pod)) continue;
    const node = nodeOf(pod);
    if (node === undefined) continue;
    const there = pods.get(node);
    if (there) there.push(pod);
    else pods.set(node, [pod]);
  }
  return { set, hash, fits, pods, now };
}

/** Pods that a plan creates and deletes. */
export interface DaemonChanges {
  /** Names of nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}
