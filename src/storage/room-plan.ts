/** Decides how much room etcd has left, which writes are still allowed, and what has to be done. Pure. */

/** Usage that one member of etcd reports of its database, in bytes. */
export interface MemberUsage {
  /** Size of its file: etcd rejects writes when it reaches the quota. */
  readonly size: number;
  /** The part of `size` that is in use; the rest is free pages, which defragmentation returns. */
  readonly inUse: number;
  /** Undefined before etcd 3.6, which does not report it. */
  readonly quota: number | undefined;
  /** True if the alarm NOSPACE is raised: etcd rejects every write, including deletions and Leases. */
  readonly isFull: boolean;
}

/**
 * `scarce`: objects are neither created nor made larger. `critical`: only deletions, Leases and statuses of
 * small objects that hardly grow are written. `exhausted`: only deletions and Leases.
 */
export type RoomLevel = 'free' | 'scarce' | 'critical' | 'exhausted';

/** Parts of the quota from which each action applies. */
const parts = { reclaim: 0.6, defragment: 0.75, disarm: 0.97 };
/**
 * Reserve within the quota, as a part of it and a minimum in bytes: a commit rewrites pages that contain a
 * large value beside a small one, so some megabytes come and go whatever is written.
 */
const kept = { scarce: { part: 0.2, least: 16 << 20 }, critical: { part: 0.07, least: 8 << 20 } };
/** Part of the critical reserve that statuses must not use. */
const withoutStatusPart = 0.5;
/** Maximum part of the quota that is reserved: half of a very small quota may still be used. */
const maxKeptPart = 0.5;
/**
 * Minimum part of the quota that must be free pages: defragmentation blocks the member, and fewer free pages
 * are not worth it.
 */
const minFreePart = 0.05;

/**
 * Returns the level of a member. `written` is the number of bytes sent since its report, which fill free
 * pages first.
 */
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
  Math.min(Math.max(quota * part, least), quota * maxKeptPart);

/** History to compact: none, all but the last seconds, or all of it. */
export type Forget = 'nothing' | 'old' | 'all';

export function historyToForget(usage: MemberUsage): Forget {
  const { size, inUse, quota, isFull } = usage;
  if (isFull || isAtLeast(levelOf(usage, 0), 'critical')) return 'all';
  return quota !== undefined && Math.max(size, inUse) >= quota * parts.reclaim ? 'old' : 'nothing';
}

export function isToDefragment({ size, inUse, quota, isFull }: MemberUsage): boolean {
  const free = size - inUse;
  if (isFull) return free > 0;
  return quota !== undefined && size >= quota * parts.defragment && free >= quota * minFreePart;
}

/** Returns whether the alarm can be disarmed: the next small write would not raise it again. */
export const isToDisarm = ({ size, quota, isFull }: MemberUsage): boolean =>
  isFull && quota !== undefined && size < quota * parts.disarm;

const order: readonly RoomLevel[] = ['free', 'scarce', 'critical', 'exhausted'];

const isAtLeast = (level: RoomLevel, least: RoomLevel) => order.indexOf(level) >= order.indexOf(least);

export const worstLevel = (levels: readonly RoomLevel[]): RoomLevel =>
  order[Math.max(0, ...levels.map((level) => order.indexOf(level)))] as RoomLevel;

export interface PlannedWrite {
  /** True if the write renews a Lease, or creates one of the cluster's own. */
  readonly isLease: boolean;
  /** True if only the status can change. */
  readonly isStatus: boolean;
  /** True if the object is being deleted after the write. */
  readonly isDeleting: boolean;
  /**
   * True if the write begins the deletion, or is a step of it that no object takes often: fewer finalizers,
   * or the end of the grace period.
   */
  readonly isDeletion: boolean;
  /** Size of the object in bytes now, 0 for a new one, and after the write. */
  readonly before: number;
  readonly after: number;
}

/**
 * Larger Leases are written like other objects: a Lease contains a name and times, and users who may write
 * Leases could fill the room that is reserved for those of masters and nodes.
 */
const maxLease = 4096;
/** Maximum growth in bytes of an update while room is scarce: a status, an owner of fields. */
const maxGrowth = 4096;
/**
 * Maximum size in bytes of an object that is updated while room is scarce: each version of it stays in the
 * history.
 */
const maxUpdated = 128 * 1024;
/**
 * Maximum size in bytes of an object whose status may change while room is critical: most pods, claims and
 * workloads are smaller.
 */
const maxStatusUpdated = 32 * 1024;
/** Maximum growth in bytes of such a status: a condition, and the owner of its fields. */
const maxStatusGrowth = 2048;

/** Maximum part of the quota for the objects of one namespace. */
const namespacePart = 0.5;

/**
 * Returns whether the objects of one namespace, which take `bytes`, would exceed the maximum share of one
 * namespace. A write that adds little is never rejected for that, so no deletion is.
 */
export function isBeyondShare(
  quota: number | undefined,
  bytes: number,
  { isLease, before, after }: Pick<PlannedWrite, 'isLease' | 'before' | 'after'>,
): boolean {
  if (quota === undefined || (isLease && after <= maxLease)) return false;
  return !addsLittle({ before, after }) && bytes - before + after > quota * namespacePart;
}

/** Returns whether the write has to wait for room. */
export function lacksRoom(level: RoomLevel, write: PlannedWrite): boolean {
  switch (level) {
    case 'free':
      return false;
    case 'exhausted':
      return !isAlwaysAllowed(write);
    case 'critical':
      return !isAlwaysAllowed(write) && !isSmallStatus(write);
    default:
      return !isAlwaysAllowed(write) && !(addsLittle(write) && write.after <= maxUpdated);
  }
}

/** Returns whether the write makes room or keeps the cluster alive: deletions and Leases do. */
function isAlwaysAllowed(write: PlannedWrite): boolean {
  const { isLease, isDeleting, isDeletion, isStatus, after } = write;
  if (isLease && after <= maxLease) return true;
  if (isDeletion) return addsLittle(write);
  return isDeleting && isStatus && addsLittle(write) && after <= maxStatusUpdated;
}

const addsLittle = ({ before, after }: Pick<PlannedWrite, 'before' | 'after'>) =>
  before > 0 && after <= before + maxGrowth;

const isSmallStatus = ({ isStatus, before, after }: PlannedWrite) =>
  isStatus && before > 0 && after <= before + maxStatusGrowth && after <= maxStatusUpdated;
