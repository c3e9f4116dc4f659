/** StatefulSets. */
import { type StatefulSet, statefulSetResource } from '../../../api/apps/v1/stateful-set.ts';
import { gauge, info, objectMetrics } from '../family.ts';
import {
  created,
  deletionTimestamp,
  generation,
  namespaced,
  observedGeneration,
} from '../metadata-families.ts';

export const statefulSets = objectMetrics<StatefulSet>({
  ref: statefulSetResource,
  labelsOf: namespaced('statefulset'),
  families: [
    created('kube_statefulset'),
    deletionTimestamp('kube_statefulset'),
    generation('kube_statefulset'),
    gauge('kube_statefulset_replicas', 'Desired number of pods.', ({ spec }) => spec.replicas),
    gauge(
      'kube_statefulset_ordinals_start',
      'Ordinal of the first pod, if it is set.',
      ({ spec }) => spec.ordinals && (spec.ordinals.start ?? 0),
    ),
    info(
      'kube_statefulset_persistentvolumeclaim_retention_policy',
      'Retention policy of the claims of pods.',
      ({ spec: { persistentVolumeClaimRetentionPolicy: policy } }) =>
        policy?.whenDeleted || policy?.whenScaled
          ? { when_deleted: policy.whenDeleted ?? '', when_scaled: policy.whenScaled ?? '' }
          : undefined,
    ),
    gauge(
      'kube_statefulset_status_replicas',
      'Current number of pods.',
      ({ status }) => status?.replicas ?? 0,
    ),
    gauge(
      'kube_statefulset_status_replicas_available',
      'Number of available pods.',
      ({ status }) => status?.availableReplicas ?? 0,
    ),
    gauge(
      'kube_statefulset_status_replicas_current',
      'Number of pods of the current revision, before the update.',
      ({ status }) => status?.currentReplicas ?? 0,
    ),
    gauge(
      'kube_statefulset_status_replicas_ready',
      'Number of ready pods.',
      ({ status }) => status?.readyReplicas ?? 0,
    ),
    gauge(
      'kube_statefulset_status_replicas_updated',
      'Number of pods of the update revision.',
      ({ status }) => status?.updatedReplicas ?? 0,
    ),
    observedGeneration('kube_statefulset'),
    info(
      'kube_statefulset_status_current_revision',
      'The revision of the pods before the update.',
      ({ status }) => ({ revision: status?.currentRevision ?? '' }),
    ),
    info('kube_statefulset_status_update_revision', 'Update revision.', ({ status }) => ({
      revision: status?.updateRevision ?? '',
    })),
  ],
});
