/** Events in the cluster that may help a waiting pod. Pure data. */
import type { Node } from '../api/core/v1/node/node.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';

/** Changes of a node that are relevant to plugins; a heartbeat is no change. */
export type NodeChange = 'labels' | 'taints' | 'readiness' | 'cordon' | 'allocatable';

export function nodeChanges(before: Node, now: Node): ReadonlySet<NodeChange> {
  const readiness = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const amounts = ({ status }: Node) => status?.allocatable ?? status?.capacity;
  const changes: readonly (readonly [NodeChange, unknown, unknown])[] = [
    ['labels', before.metadata.labels, now.metadata.labels],
    ['taints', before.spec.taints, now.spec.taints],
    ['readiness', readiness(before), readiness(now)],
    ['cordon', before.spec.unschedulable ?? false, now.spec.unschedulable ?? false],
    ['allocatable', amounts(before), amounts(now)],
  ];
  return new Set(changes.filter(([, old, next]) => !deepEqual(old, next)).map(([change]) => change));
}

/**
 * Returns the node if the event may make it accept more pods: the node is new, or one of these properties
 * changed.
 */
export const changedNode = (event: ClusterEvent, ...of: readonly NodeChange[]): NodeInfo | undefined => {
  if (event.kind === 'nodeAdded') return event.node;
  if (event.kind !== 'nodeChanged') return undefined;
  return of.some((change) => event.changed.has(change)) ? event.node : undefined;
};

export type ClusterEvent =
  | { readonly kind: 'nodeAdded'; readonly node: NodeInfo }
  | { readonly kind: 'nodeChanged'; readonly node: NodeInfo; readonly changed: ReadonlySet<NodeChange> }
  | { readonly kind: 'nodeRemoved'; readonly before: Node }
  /** A pod has got a node, possibly only assumed. */
  | { readonly kind: 'podPlaced'; readonly pod: PodInfo; readonly nodeName: string }
  /** A pod has left its node, which may be gone. */
  | {
      readonly kind: 'podRemoved';
      readonly pod: PodInfo;
      readonly nodeName: string;
      readonly node: NodeInfo | undefined;
    }
  /** A placed pod has other labels or other requests, or is terminating. */
  | {
      readonly kind: 'podChanged';
      readonly pod: PodInfo;
      readonly before: PodInfo;
      readonly nodeName: string;
      readonly node: NodeInfo | undefined;
    }
  /** A pod no longer waits for room on the node. */
  | { readonly kind: 'nominationEnded'; readonly nodeName: string; readonly node: NodeInfo | undefined }
  | { readonly kind: 'namespaceChanged'; readonly namespace: string }
  /** A claim, a volume or a StorageClass has changed. */
  | { readonly kind: 'storageChanged' };
