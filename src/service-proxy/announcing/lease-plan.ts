/** Decides what a node does about the Lease of an address of the pool. Pure. */
import type { Lease } from '../../api/coordination/v1/lease.ts';
import { poolLeaseSeconds } from '../../api/core/v1/service/pool-lease.ts';
import { deepCopy } from '../../apimachinery/equality.ts';

/** Milliseconds between renewals by the holder. */
export const renewMs = 1000;
/** Milliseconds by which a node waits for each node before it in the order. */
const stepMs = 150;
const maxSteps = 6;

export interface LeaseTurn {
  readonly node: string;
  readonly lease: Lease;
  /** Milliseconds since this node saw the Lease change. */
  readonly age: number;
  /** True if this node may answer for the address. */
  readonly isCandidate: boolean;
  /** Number of nodes, without the holder, that try before this one. */
  readonly rank: number;
}

export type LeaseStep =
  | { readonly step: 'acquire' | 'renew' | 'release' }
  /** No step for `ms` milliseconds; Infinity: until something changes. */
  | { readonly step: 'wait'; readonly ms: number };

export function planLease({ node, lease, age, isCandidate, rank }: LeaseTurn): LeaseStep {
  const holder = holderOf(lease);
  if (holder === node) {
    if (!isCandidate) return { step: 'release' };
    return age >= renewMs ? { step: 'renew' } : { step: 'wait', ms: renewMs - age };
  }
  if (!isCandidate) return { step: 'wait', ms: Number.POSITIVE_INFINITY };
  const silenceMs = holder === undefined ? 0 : poolLeaseSeconds * 1000;
  const ms = silenceMs + Math.min(rank, maxSteps) * stepMs - age;
  return ms <= 0 ? { step: 'acquire' } : { step: 'wait', ms };
}

/** Returns the node that holds the Lease; undefined if none does. */
export const holderOf = ({ spec }: Lease): string | undefined => spec.holderIdentity || undefined;

/** Returns true if no node has held the Lease yet. */
export const isFirst = ({ spec }: Lease): boolean =>
  (spec.leaseTransitions ?? 0) === 0 && !spec.holderIdentity;

/** Returns the Lease with this holder. `now` is in RFC 3339 with microseconds. */
export function heldBy(lease: Lease, node: string | undefined, now: string): Lease {
  const { holderIdentity: before, ...spec } = lease.spec;
  const isNew = node !== undefined && node !== before;
  return deepCopy({
    ...lease,
    spec: {
      ...spec,
      ...(node !== undefined && { holderIdentity: node }),
      ...(isNew && { acquireTime: now, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 }),
      renewTime: now,
    },
  } as Lease);
}
