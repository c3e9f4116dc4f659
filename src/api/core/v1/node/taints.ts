/**
 * Taints that the control plane itself sets on nodes, and the matching of tolerations (upstream: core/v1
 * well_known_taints, toleration.go).
 */

import type { Taint, Toleration } from '../types.gen.ts';

export const taintKeys = {
  notReady: 'node.kubernetes.io/not-ready',
  unreachable: 'node.kubernetes.io/unreachable',
  unschedulable: 'node.kubernetes.io/unschedulable',
  memoryPressure: 'node.kubernetes.io/memory-pressure',
  diskPressure: 'node.kubernetes.io/disk-pressure',
  pidPressure: 'node.kubernetes.io/pid-pressure',
  networkUnavailable: 'node.kubernetes.io/network-unavailable',
  /** Set by an administrator who has verified that the machine is off: its pods no longer run. */
  outOfService: 'node.kubernetes.io/out-of-service',
} as const;

export const toleratesTaint = (toleration: Toleration, taint: Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
};

export const tolerates = (tolerations: readonly Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some((toleration) => toleratesTaint(toleration, taint));
