/**
 * Rejects a write while the store reserves its remaining room for deletions, Leases, statuses and small
 * updates, and a write that would give a namespace more than its maximum share of the store.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import { decodeObject } from '../../storage/codec.ts';
import { isBeyondShare, lacksRoom, type PlannedWrite } from '../../storage/room-plan.ts';
import type { ServerContext } from '../server-context.ts';
import { pendingFinalizers } from './deletion.ts';

/** Namespace of the cluster's own objects, which has no limit. */
const ownNamespace = 'kube-system';
/** Namespaces of the Leases that masters and nodes depend on. */
const namespacesOfLeases: readonly string[] = [ownNamespace, 'kube-node-lease'];

/** An object that is about to be stored. */
export interface ObjectWrite {
  readonly object: KubeObject;
  /** Size of the encoded object in bytes. */
  readonly after: number;
  readonly isStatus: boolean;
  /** The stored object; undefined for a new one. */
  readonly old?: Buffer;
}

/**
 * Throws TooManyRequests. The error has no retry time: client-go would send the same request ten times over,
 * and room only becomes free when objects are deleted.
 */
export function requireRoom(
  { store: { room }, cache }: Pick<ServerContext, 'store' | 'cache'>,
  definition: ResourceDefinition,
  { object, after, isStatus, old }: ObjectWrite,
): void {
  if (!room) return;
  const { namespace = '', deletionTimestamp } = object.metadata;
  const level = room.level();
  const isDeleting = deletionTimestamp !== undefined;
  const write: PlannedWrite = {
    isLease: isLeaseOf(definition) && (old !== undefined || namespacesOfLeases.includes(namespace)),
    isStatus,
    isDeleting,
    // Decoded only if the level requires it.
    isDeletion: isDeleting && level !== 'free' && old !== undefined && isStep(definition, object, old),
    before: old?.length ?? 0,
    after,
  };
  if (lacksRoom(level, write))
    throw newStatusError(
      'TooManyRequests',
      'the store of the cluster is almost full, and what is left is kept for deletions, Leases and small changes of statuses: delete what is not needed, or give etcd a larger quota',
    );
  if (namespace === '' || namespace === ownNamespace) return;
  if (isBeyondShare(room.quota(), cache.namespaceBytes(namespace), write))
    throw newStatusError(
      'TooManyRequests',
      `the objects of the namespace ${namespace} take half of the store of the cluster, which is the most that one namespace may have: delete what is not needed in it`,
    );
}

const isLeaseOf = ({ group, plural }: ResourceDefinition) =>
  group === 'coordination.k8s.io' && plural === 'leases';

/** Returns whether the write brings the object nearer to its removal. No object takes such a step often. */
function isStep(definition: ResourceDefinition, object: KubeObject, stored: Buffer): boolean {
  const old = decodeObject(stored);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  if (deletionTimestamp === undefined) return true;
  const left = (one: KubeObject) => pendingFinalizers(definition, one).length;
  if (left(object) !== left(old)) return left(object) < left(old);
  return deletionGracePeriodSeconds > 0 && object.metadata.deletionGracePeriodSeconds === 0;
}
