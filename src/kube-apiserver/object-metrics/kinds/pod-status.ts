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
  gauge('kube_pod_start_time', 'When the node took the pod on, in seconds since the epoch.', ({ status }) =>
    seconds(status?.startTime),
  ),
  gauge(
    'kube_pod_completion_time',
    'When the last container of the pod that has ended did so, in seconds since the epoch.',
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
    'The class of service of the pod.',
    'qos_class',
    qosClasses,
    ({ status }) => status?.qosClass,
  ),
  statusOf(
    'kube_pod_status_ready',
    'Whether the pod can serve requests.',
    'Ready',
    ({ status }) => status?.conditions,
  ),
  gauge('kube_pod_status_ready_time', 'Since when the pod is ready, in seconds since the epoch.', (pod) =>
    conditionTime(pod, 'Ready', 'True'),
  ),
  gauge(
    'kube_pod_status_initialized_time',
    'Since when the init containers of the pod are done, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'Initialized', 'True'),
  ),
  gauge(
    'kube_pod_status_container_ready_time',
    'Since when all containers of the pod are ready, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'ContainersReady', 'True'),
  ),
  gauges('kube_pod_status_reason', 'Why the pod is as it is.', (pod) =>
    reasons.map((reason) => ({ labels: { reason }, value: Number(hasReason(pod, reason)) })),
  ),
  statusOf(
    'kube_pod_status_scheduled',
    'Whether the pod has its node.',
    'PodScheduled',
    ({ status }) => status?.conditions,
  ),
  gauge(
    'kube_pod_status_scheduled_time',
    'Since when the pod has its node, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'PodScheduled', 'True'),
  ),
  gauge('kube_pod_status_unschedulable', 'Told of a pod for which there is no node yet: 1.', (pod) =>
    podCondition(pod, 'PodScheduled')?.status === 'False' ? 1 : undefined,
  ),
  gauge(
    'kube_pod_status_unscheduled_time',
    'Since when there is no node for the pod, in seconds since the epoch.',
    (pod) => conditionTime(pod, 'PodScheduled', 'False'),
  ),
];

const hasReason = ({ status }: Pod, reason: string) =>
  status?.reason === reason ||
  (status?.conditions ?? []).some((condition) => condition.reason === reason) ||
  (status?.containerStatuses ?? []).some(({ state }) => state?.terminated?.reason === reason);
