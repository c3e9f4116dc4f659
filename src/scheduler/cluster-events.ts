/** What happens in a cluster, as far as it can help a pod that waits. Pure data. */
import type { Node } from '../api/core/v1/node.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import type { NodeInfo, PodInfo } from './framework.ts';

/** What of a node matters to plugins: a heartbeat is no change. */
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

/** The node of which the event makes one that may take pods that it did not: it is new, or has changed in one of these. */
export const changedNode = (event: ClusterEvent, ...of: readonly NodeChange[]): NodeInfo | undefined => {
  if (event.kind === 'nodeAdded') return event.node;
  if (event.kind !== 'nodeChanged') return undefined;
  return of.some((change) => event.changed.has(change)) ? event.node : undefined;
};

export type ClusterEvent =
  | { readonly kind: 'nodeAdded'; readonly node: NodeInfo }
  | { readonly kind: 'nodeChanged'; readonly node: NodeInfo; readonly changed: ReadonlySet<NodeChange> }
  | { readonly kind: 'nodeRemoved'; readonly before: Node }
  /** A pod has a node now, be it assumed. */
  | { readonly kind: 'podPlaced'; readonly pod: PodInfo; readonly nodeName: string }
  /** A pod has left its node, which may be gone. */
  | {
      readonly kind: 'podRemoved';
      readonly pod: PodInfo;
      readonly nodeName: string;
      readonly node: NodeInfo | undefined;
    }
  /** A pod with a node has other labels, asks for other amounts, or is about to go. */
  | {
      readonly kind: 'podChanged';
      readonly pod: PodInfo;
      readonly before: PodInfo;
      readonly nodeName: string;
      readonly node: NodeInfo | undefined;
    }
  /** A pod that waited for room on a node waits there no more. */
  | { readonly kind: 'nominationEnded'; readonly nodeName: string; readonly node: NodeInfo | undefined }
  | { readonly kind: 'namespaceChanged'; readonly namespace: string }
  /** A claim, a volume or a class of storage. */
  | { readonly kind: 'storageChanged' };
