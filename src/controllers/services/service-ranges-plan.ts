/** Decides what becomes of a ServiceCIDR. Pure. */
import {
  cidrsOf,
  hasServiceAddress,
  rangeProtection,
  readyCondition,
  type ServiceCIDR,
} from '../../api/networking/v1/service-cidr.ts';
import { timedCondition, withReplaced } from '../../apimachinery/conditions.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { liesIn } from '../../base/address-families.ts';

export type RangeStep =
  | { readonly type: 'keep' }
  /** The finalizer is missing. */
  | { readonly type: 'protect' }
  | { readonly type: 'status'; readonly ranges: ServiceCIDR }
  /** Decide again after this time. */
  | { readonly type: 'wait'; readonly ms: number }
  /** Nothing needs the range any more: the finalizer goes. */
  | { readonly type: 'release' };

/**
 * Milliseconds from a deletion until its range may go. Masters whose cache is behind may give an address of
 * the range to a Service meanwhile (upstream: deletionGracePeriod).
 */
export const deletionGraceMs = 10_000;

const ready = {
  type: 'Ready',
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
} as const;
const stillUsed = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
} as const;

/** `others` are the other ServiceCIDRs, `addresses` the cluster IPs of all Services, `now` is in ms. */
export function planRange(
  ranges: ServiceCIDR,
  others: readonly ServiceCIDR[],
  addresses: () => Iterable<string>,
  now: { readonly ms: number; readonly text: string },
): RangeStep {
  const isProtected = ranges.metadata.finalizers?.includes(rangeProtection) ?? false;
  const { deletionTimestamp } = ranges.metadata;
  if (deletionTimestamp === undefined)
    return isProtected ? statusStep(ranges, ready, now.text) : { type: 'protect' };
  if (!isProtected) return { type: 'keep' };
  if (isNeeded(ranges, others, addresses)) return statusStep(ranges, stillUsed, now.text);
  const ms = Date.parse(deletionTimestamp) + deletionGraceMs - now.ms;
  return ms > 0 ? { type: 'wait', ms } : { type: 'release' };
}

function isNeeded(
  ranges: ServiceCIDR,
  others: readonly ServiceCIDR[],
  addresses: () => Iterable<string>,
): boolean {
  const staying = others.filter((other) => !isTerminating(other));
  const isCovered = (cidr: string) =>
    staying.some((other) => cidrsOf(other).some((outer) => liesIn(outer, cidr)));
  if (cidrsOf(ranges).every(isCovered)) return false;
  for (const address of addresses())
    if (hasServiceAddress(ranges, address) && !staying.some((other) => hasServiceAddress(other, address)))
      return true;
  return false;
}

function statusStep(ranges: ServiceCIDR, wanted: typeof ready | typeof stillUsed, now: string): RangeStep {
  const current = readyCondition(ranges);
  const isSame =
    current?.status === wanted.status &&
    current.reason === wanted.reason &&
    current.message === wanted.message;
  if (isSame) return { type: 'keep' };
  const before = ranges.status?.conditions ?? [];
  const conditions = withReplaced(before, timedCondition(before, wanted, now));
  return { type: 'status', ranges: { ...ranges, status: { ...ranges.status, conditions } } };
}
