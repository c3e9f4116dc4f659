/** Deadline of a pod on its node (spec.activeDeadlineSeconds; upstream: pkg/kubelet/active_deadline.go). */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodEnd } from './actions.ts';

/** Returns the milliseconds until the pod's deadline, 0 or less after it; undefined without a deadline. */
export function deadlineIn({ metadata, spec, status }: Pod, now: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const start = status?.startTime === undefined ? now : Date.parse(status.startTime);
  return start + spec.activeDeadlineSeconds * 1000 - now;
}

export const deadlineExceeded: PodEnd = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
  disruption: false,
};
