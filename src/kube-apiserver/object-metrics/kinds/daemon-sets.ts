/** DaemonSets. */
import { type DaemonSet, daemonSetResource } from '../../../api/apps/v1/daemon-set.ts';
import { gauge, objectMetrics } from '../family.ts';
import {
  created,
  deletionTimestamp,
  generation,
  namespaced,
  observedGeneration,
} from '../metadata-families.ts';

export const daemonSets = objectMetrics<DaemonSet>({
  ref: daemonSetResource,
  labelsOf: namespaced('daemonset'),
  families: [
    created('kube_daemonset'),
    deletionTimestamp('kube_daemonset'),
    generation('kube_daemonset'),
    gauge(
      'kube_daemonset_status_current_number_scheduled',
      'Number of nodes that run a pod of the set and should.',
      ({ status }) => status?.currentNumberScheduled ?? 0,
    ),
    gauge(
      'kube_daemonset_status_desired_number_scheduled',
      'Number of nodes that should run a pod of the set.',
      ({ status }) => status?.desiredNumberScheduled ?? 0,
    ),
    gauge(
      'kube_daemonset_status_number_available',
      'Number of nodes that should run a pod of the set and have an available one.',
      ({ status }) => status?.numberAvailable ?? 0,
    ),
    gauge(
      'kube_daemonset_status_number_misscheduled',
      'Number of nodes that run a pod of the set and should not.',
      ({ status }) => status?.numberMisscheduled ?? 0,
    ),
    gauge(
      'kube_daemonset_status_number_ready',
      'Number of nodes that should run a pod of the set and have a ready one.',
      ({ status }) => status?.numberReady ?? 0,
    ),
    gauge(
      'kube_daemonset_status_number_unavailable',
      'Number of nodes that should run a pod of the set and have no available one.',
      ({ status }) => status?.numberUnavailable ?? 0,
    ),
    observedGeneration('kube_daemonset'),
    gauge(
      'kube_daemonset_status_updated_number_scheduled',
      'Number of nodes that run a pod of the newest template.',
      ({ status }) => status?.updatedNumberScheduled ?? 0,
    ),
  ],
});
