/**
 * Refuses a write while the store keeps what room is left for deletions, Leases, statuses and small updates,
 * and one that would give a namespace more of the store than one may have.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type GroupResource, newStatusError } from '../../apimachinery/status-error.ts';
import { isBeyondShare, lacksRoom, type PlannedWrite } from '../../storage/room-plan.ts';
import type { ServerContext } from '../server-context.ts';

/** Namespace of the cluster's own objects, which is not bounded. */
const ownNamespace = 'kube-system';

/**
 * Throws TooManyRequests. It says no time to try again after: client-go would send the same request ten times over, and room comes
 * when something is deleted. `before` and `after` are bytes, as they are stored; `before` is 0 for a new object.
 */
export function requireRoom(
  { store: { room }, cache }: Pick<ServerContext, 'store' | 'cache'>,
  { group, plural }: GroupResource,
  { metadata: { namespace = '', deletionTimestamp } }: KubeObject,
  size: Pick<PlannedWrite, 'before' | 'after' | 'isStatus'>,
): void {
  if (!room) return;
  const isLease = group === 'coordination.k8s.io' && plural === 'leases';
  const write = { ...size, isLease, isDeleting: deletionTimestamp !== undefined };
  if (lacksRoom(room.level(), write))
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
