/** How much room etcd has left, what may still be written, and what has to be done about it. Pure. */

/** What one member of etcd reports of its database, in bytes. */
export interface MemberUsage {
  /** Size of its file: etcd refuses writes when this reaches the quota. */
  readonly size: number;
  /** What of that is in use; the rest is free pages, which defragmentation gives back. */
  readonly inUse: number;
  /** etcd tells it from 3.6 on. */
  readonly quota: number | undefined;
  /** Whether the alarm NOSPACE is raised: etcd refuses every write, deletions and Leases too. */
  readonly isFull: boolean;
}

/**
 * `scarce`: objects are neither created nor made larger. `critical`: only deletions, Leases and statuses of
 * small objects that hardly grow are written. `exhausted`: only deletions and Leases.
 */
export type RoomLevel = 'free' | 'scarce' | 'critical' | 'exhausted';

/** Parts of the quota from which on each holds. */
const parts = { reclaim: 0.6, defragment: 0.75, disarm: 0.97 };
/**
 * What is kept free of the quota, as part of it and at least in bytes: a commit writes pages anew that hold a large value beside a
 * small one, so some megabytes come and go whatever is written.
 */
const kept = { scarce: { part: 0.2, least: 16 << 20 }, critical: { part: 0.07, least: 8 << 20 } };
/** Of what is kept free for deletions, Leases and statuses: what statuses may not take. */
const withoutStatusPart = 0.5;
/** Of a very small quota half may be used all the same. */
const mostKeptPart = 0.5;
/** Defragmenting stops the member for its time: free pages of a smaller part of the quota do not pay. */
const leastFreePart = 0.05;

/** `written`: bytes that were sent since the member was asked. Free pages take them first. */
export function levelOf({ size, inUse, quota, isFull }: MemberUsage, written: number): RoomLevel {
  if (isFull) return 'exhausted';
  if (quota === undefined) return 'free';
  const left = quota - Math.max(size, inUse + written);
  const last = reserve(kept.critical, quota);
  if (left <= last * withoutStatusPart) return 'exhausted';
  if (left <= last) return 'critical';
  return left <= reserve(kept.scarce, quota) ? 'scarce' : 'free';
}

const reserve = ({ part, least }: { readonly part: number; readonly least: number }, quota: number): number =>
  Math.min(Math.max(quota * part, least), quota * mostKeptPart);

/** History to forget: none, all but the last seconds, or all of it. */
export type Forget = 'nothing' | 'old' | 'all';

export function historyToForget(usage: MemberUsage): Forget {
  const { size, inUse, quota, isFull } = usage;
  if (isFull || isAtLeast(levelOf(usage, 0), 'critical')) return 'all';
  return quota !== undefined && Math.max(size, inUse) >= quota * parts.reclaim ? 'old' : 'nothing';
}

export function isToDefragment({ size, inUse, quota, isFull }: MemberUsage): boolean {
  const free = size - inUse;
  if (isFull) return free > 0;
  return quota !== undefined && size >= quota * parts.defragment && free >= quota * leastFreePart;
}

/** Whether the alarm would not be raised again by the next small write. */
export const isToDisarm = ({ size, quota, isFull }: MemberUsage): boolean =>
  isFull && quota !== undefined && size < quota * parts.disarm;

const order: readonly RoomLevel[] = ['free', 'scarce', 'critical', 'exhausted'];

const isAtLeast = (level: RoomLevel, least: RoomLevel) => order.indexOf(level) >= order.indexOf(least);

export const worstLevel = (levels: readonly RoomLevel[]): RoomLevel =>
  order[Math.max(0, ...levels.map((level) => order.indexOf(level)))] as RoomLevel;

export interface PlannedWrite {
  /** Whether it renews a Lease, or creates one of the cluster's own. */
  readonly isLease: boolean;
  /** Whether only the status can change. */
  readonly isStatus: boolean;
  /** Whether the object is being deleted afterwards. */
  readonly isDeleting: boolean;
  /**
   * Whether it begins the deletion, or takes one step of it that no object takes often: fewer finalizers, or
   * no grace any more.
   */
  readonly isDeletion: boolean;
  /** Bytes of the object now, 0 for a new one, and as it would be. */
  readonly before: number;
  readonly after: number;
}

/**
 * Larger Leases are written as other objects are: one holds a name and times, and who may write Leases could
 * fill with them what is kept for those of masters and nodes.
 */
const mostLease = 4096;
/** An update may add so many bytes where room is scarce: a status, an owner of fields. */
const mostGrowth = 4096;
/** Larger objects are not updated where room is scarce: each version of theirs stays in the history. */
const mostUpdated = 128 * 1024;
/**
 * Where room is critical, the status of an object up to this size may change: that of most pods, claims and
 * workloads.
 */
const mostStatusUpdated = 32 * 1024;
/** Bytes that such a status may add: a condition, and who owns its fields. */
const mostStatusGrowth = 2048;

/** Of the quota: what the objects of one namespace may take. */
const namespacePart = 0.5;

/**
 * Whether the objects of one namespace, which take `bytes`, would take more of the store than one namespace
 * may have. A write that adds little is never refused for that, so no deletion is.
 */
export function isBeyondShare(
  quota: number | undefined,
  bytes: number,
  { isLease, before, after }: Pick<PlannedWrite, 'isLease' | 'before' | 'after'>,
): boolean {
  if (quota === undefined || (isLease && after <= mostLease)) return false;
  const isSmall = before > 0 && after <= before + mostGrowth;
  return !isSmall && bytes - before + after > quota * namespacePart;
}

/** Whether the write has to wait for room. */
export function lacksRoom(level: RoomLevel, write: PlannedWrite): boolean {
  const { isLease, isDeleting, isDeletion, isStatus, before, after } = write;
  if (level === 'free' || (isLease && after <= mostLease)) return false;
  const addsLittle = before > 0 && after <= before + mostGrowth;
  if (isDeletion && addsLittle) return false;
  if (isDeleting && isStatus && addsLittle && after <= mostStatusUpdated) return false;
  if (level === 'exhausted') return true;
  if (level === 'critical')
    return !isStatus || before === 0 || after > before + mostStatusGrowth || after > mostStatusUpdated;
  return !addsLittle || after > mostUpdated;
}
