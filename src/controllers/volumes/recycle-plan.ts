/** Plans the recycling of a volume for later claims (upstream: recycleVolumeOperation). Pure. */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { emptiedReason, stuckReason } from '../../api/core/v1/volume/chores.ts';
import { isToBeEmptied, nodeLabel, nodeOf } from '../../api/core/v1/volume/recycling.ts';
import { choreNode, nextNode } from './chore-node.ts';
import { unbound } from './volume-plan.ts';

export type RecycleStep =
  | { readonly kind: 'none' }
  /** A pod may still write to the volume. */
  | { readonly kind: 'wait'; readonly message: string }
  /** The kubelet of that node must empty the volume. */
  | { readonly kind: 'assign'; readonly node: string }
  | { readonly kind: 'fail'; readonly message: string }
  /** The volume is empty and available. */
  | { readonly kind: 'free'; readonly volume: PersistentVolume };

export interface RecycleWorld {
  readonly nodes: readonly Node[];
  /** `NAMESPACE/NAME` of pods that use the volume through its deleted claim. */
  readonly users: readonly string[];
}

export function planRecycle(volume: PersistentVolume, { nodes, users }: RecycleWorld): RecycleStep {
  const known = nodeOf(volume);
  const { claimRef } = volume.spec;
  if (!isToBeEmptied(volume) || (known === undefined && !claimRef?.uid)) return { kind: 'none' };
  if (volume.status?.reason === emptiedReason) return { kind: 'free', volume: freed(volume) };
  if (known === undefined && users.length > 0)
    return { kind: 'wait', message: `Volume is used by pods: ${users.join(',')}` };
  return planEmptying(volume, nodes, known);
}

function planEmptying(
  volume: PersistentVolume,
  nodes: readonly Node[],
  known: string | undefined,
): RecycleStep {
  const found = choreNode(volume, nodes);
  if ('why' in found) return failed(volume, found.why);
  if (found.node !== known) return { kind: 'assign', node: found.node };
  if (volume.status?.reason !== stuckReason) return { kind: 'none' };
  const next = nextNode(volume, nodes);
  return next === undefined
    ? { kind: 'fail', message: failure(volume.status.message ?? '') }
    : { kind: 'assign', node: next };
}

const failure = (why: string) => `Recycle failed: ${why}`;

/** Returns the failure, or no step if it has been reported already. */
function failed({ status }: PersistentVolume, why: string): RecycleStep {
  const message = failure(why);
  return status?.phase === 'Failed' && status.message === message
    ? { kind: 'none' }
    : { kind: 'fail', message };
}

function freed(volume: PersistentVolume): PersistentVolume {
  const { metadata, spec } = unbound(volume);
  const { [nodeLabel]: _, ...labels } = metadata.labels ?? {};
  return { ...volume, metadata: { ...metadata, labels }, spec };
}
