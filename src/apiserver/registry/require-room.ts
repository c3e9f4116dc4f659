/** Refuses a write while the store keeps what room is left for deletions, Leases, statuses and small updates. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type GroupResource, newStatusError } from '../../apimachinery/status-error.ts';
import { lacksRoom, type PlannedWrite } from '../../storage/room-plan.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Throws TooManyRequests. It says no time to try again after: client-go would send the same request ten times over, and room comes
 * when something is deleted. `before` and `after` are bytes, as they are stored; `before` is 0 for a new object.
 */
export function requireRoom(
  { room }: Pick<Store, 'room'>,
  { group, plural }: GroupResource,
  object: KubeObject,
  { before, after, isStatus }: Pick<PlannedWrite, 'before' | 'after' | 'isStatus'>,
): void {
  const level = room?.level() ?? 'free';
  const isLease = group === 'coordination.k8s.io' && plural === 'leases';
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  if (!lacksRoom(level, { isLease, isDeleting, isStatus, before, after })) return;
  throw newStatusError(
    'TooManyRequests',
    'the store of the cluster is almost full, and what is left is kept for deletions, Leases and small changes of statuses: delete what is not needed, or give etcd a larger quota',
  );
}
