/** Status of pods. */

import { podCondition } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { statusOf } from '../condition-samples.ts';
import { gauge, gauges, type ObjectFamily, seconds, states } from '../family.ts';

const phases = ['Pending', 'Succeeded', 'Failed', 'Unknown', 'Running'];
const qosClasses = ['BestEffort', 'Burstable', 'Guaranteed'];
const reasons = [
  'Evicted',
  'NodeAffinity',
  'NodeLost',
  'PreemptionByScheduler',
  'SchedulingGated',
  'Shutdown',
  'TerminationByKubelet',
  'UnexpectedAdmissionError',
];

/** Returns the time in seconds since which the condition has the status; undefined if it has another one. */
const conditionTime = (pod: Pod, type: string, status: 'True' | 'False') => {
  const condition = podCondition(pod, type);
  return condition?.status === status ? seconds(condition.lastTransitionTime) : undefined;
};

export const statusFamilies: readonly ObjectFamily<Pod>[] = [
  gauge(
    'kube_pod_start_time',
    'Time at which the kubelet accepted the pod, in seconds since the epoch.',
    ({ status }) => seconds(status?.startTime),
  ),
  gauge(
    'kube_pod_completion_time',
    'Time at which the last terminated container of the pod ended, in seconds since the epoch.',
    ({ status }) => {
      const ends = (status?.containerStatuses ?? []).map(
        ({ state }) => seconds(state?.terminated?.finishedAt) ?? 0,
      );
      const last = Math.max(0, ...ends);
      return last > 0 ? last : undefined;
    },
  ),
  states('kube_pod_status_phase', 'The phase of the pod.', 'phase', phases, ({ status }) => status?.phase),
  states(
    'kube_pod_status_qos_class',
    'Quality-of-service class of the pod.',
    'qos_class',
    qosClasses,
    ({ status }) => status?.qosClass,
  ),
  statusOf('kube_pod_status_ready', 'Whether the pod is ready.', 'Ready', ({ status }) => status?.conditions),
  gauge(
    'kube_pod_status_ready_time',
    'Time at which the pod became ready, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'Ready', 'True'),
  ),
  gauge(
    'kube_pod_status_initialized_time',
    'Time at which the init containers of the pod completed, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'Initialized', 'True'),
  ),
  gauge(
    'kube_pod_status_container_ready_time',
    'Time at which all containers of the pod became ready, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'ContainersReady', 'True'),
  ),
  gauges('kube_pod_status_reason', 'Reason in the status of the pod.', (pod) =>
    reasons.map((reason) => ({ labels: { reason }, value: Number(hasReason(pod, reason)) })),
  ),
  statusOf(
    'kube_pod_status_scheduled',
    'Whether the pod is scheduled to a node.',
    'PodScheduled',
    ({ status }) => status?.conditions,
  ),
  gauge(
    'kube_pod_status_scheduled_time',
    'Time at which the pod was scheduled, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'PodScheduled', 'True'),
  ),
  gauge('kube_pod_status_unschedulable', '1 for a pod that cannot be scheduled; absent otherwise.', (pod) =>
    podCondition(pod, 'PodScheduled')?.status === 'False' ? 1 : undefined,
  ),
  gauge(
    'kube_pod_status_unscheduled_time',
    'Time since which the pod cannot be scheduled, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'PodScheduled', 'False'),
  ),
];

const hasReason = ({ status }: Pod, reason: string) =>
  status?.reason === reason ||
  (status?.conditions ?? []).some((condition) => condition.reason === reason) ||
  (status?.containerStatuses ?? []).some(({ state }) => state?.terminated?.reason === reason);
