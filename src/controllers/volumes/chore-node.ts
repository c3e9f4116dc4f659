/** Chooses the node whose kubelet performs a task on a volume. Pure. */
import type { Node } from '../../api/core/v1/node/node.ts';
import { isNodeReady } from '../../api/core/v1/node/readiness.ts';
import { volumeSuitsNode } from '../../api/core/v1/node/selection.ts';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { nodeOf } from '../../api/core/v1/volume/recycling.ts';

export type Found = { readonly node: string } | { readonly why: string };

/** Returns the node. The node that already has the task keeps it as long as it exists. */
export function choreNode(volume: PersistentVolume, nodes: readonly Node[]): Found {
  const suiting = nodes.filter((node) => volumeSuitsNode(volume, node));
  const known = nodeOf(volume);
  if (known !== undefined && suiting.some(({ metadata }) => metadata.name === known)) return { node: known };
  return volume.spec.nfs ? firstReady(suiting) : theOnly(suiting);
}

/** Returns the next node to try for a share that a kubelet could not reach; each node is tried once. */
export function nextNode(volume: PersistentVolume, nodes: readonly Node[]): string | undefined {
  const known = nodeOf(volume) ?? '';
  const ready = nodes.filter((node) => volumeSuitsNode(volume, node) && isNodeReady(node));
  return volume.spec.nfs && names(ready).find((name) => name > known);
}

function firstReady(nodes: readonly Node[]): Found {
  const [node] = names(nodes.filter(isNodeReady));
  return node === undefined ? { why: 'no node is ready that could mount it' } : { node };
}

/**
 * Returns the only suitable node. A path does not identify the machine on which it is, so several nodes are
 * an error.
 */
function theOnly(nodes: readonly Node[]): Found {
  const [node, ...others] = names(nodes);
  if (node === undefined) return { why: 'no node matches its nodeAffinity' };
  if (others.length === 0) return { node };
  return { why: 'its data is on one of several nodes; set spec.nodeAffinity to that node' };
}

const names = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name).sort();
