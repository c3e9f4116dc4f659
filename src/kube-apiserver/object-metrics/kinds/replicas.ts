/** ReplicaSets and ReplicationControllers. */
import { type ReplicaSet, replicaSetResource } from '../../../api/apps/v1/replica-set.ts';
import {
  type ReplicationController,
  replicationControllerResource,
} from '../../../api/core/v1/replication-controller.ts';
import { gauge, type ObjectFamily, objectMetrics } from '../family.ts';
import { created, generation, namespaced, observedGeneration, owner } from '../metadata-families.ts';

const familiesOf = (prefix: string): readonly ObjectFamily<ReplicaSet | ReplicationController>[] => [
  created(prefix),
  generation(prefix),
  owner(prefix),
  gauge(`${prefix}_spec_replicas`, 'Desired number of pods.', ({ spec }) => spec?.replicas),
  gauge(`${prefix}_status_replicas`, 'Current number of pods.', ({ status }) => status?.replicas ?? 0),
  gauge(
    `${prefix}_status_fully_labeled_replicas`,
    'Number of pods with all labels of the template.',
    ({ status }) => status?.fullyLabeledReplicas ?? 0,
  ),
  gauge(
    `${prefix}_status_ready_replicas`,
    'Number of ready pods.',
    ({ status }) => status?.readyReplicas ?? 0,
  ),
  observedGeneration(prefix),
];

export const replicaSets = objectMetrics<ReplicaSet>({
  ref: replicaSetResource,
  labelsOf: namespaced('replicaset'),
  families: [
    ...familiesOf('kube_replicaset'),
    gauge(
      'kube_replicaset_status_terminating_replicas',
      'Number of terminating pods.',
      ({ status }) => status?.terminatingReplicas,
    ),
  ],
});

export const replicationControllers = objectMetrics<ReplicationController>({
  ref: replicationControllerResource,
  labelsOf: namespaced('replicationcontroller'),
  families: [
    ...familiesOf('kube_replicationcontroller'),
    gauge(
      'kube_replicationcontroller_status_available_replicas',
      'Number of available pods.',
      ({ status }) => status?.availableReplicas ?? 0,
    ),
  ],
});
