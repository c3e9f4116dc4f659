import { cronJobs } from '../../../../src/kube-apiserver/object-metrics/kinds/cron-jobs.ts';
import { daemonSets } from '../../../../src/kube-apiserver/object-metrics/kinds/daemon-sets.ts';
import { deployments } from '../../../../src/kube-apiserver/object-metrics/kinds/deployments.ts';
import { horizontalPodAutoscalers } from '../../../../src/kube-apiserver/object-metrics/kinds/horizontal-pod-autoscalers.ts';
import { jobs } from '../../../../src/kube-apiserver/object-metrics/kinds/jobs.ts';
import { podDisruptionBudgets } from '../../../../src/kube-apiserver/object-metrics/kinds/pod-disruption-budgets.ts';
import {
  replicaSets,
  replicationControllers,
} from '../../../../src/kube-apiserver/object-metrics/kinds/replicas.ts';
import { statefulSets } from '../../../../src/kube-apiserver/object-metrics/kinds/stateful-sets.ts';
import { describeSamples } from './expected-samples.ts';

const rolling = (replicas: number, rollingUpdate: object) => ({
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate } },
});
const held = (type: string, status: string, reason: string) => ({ type, status, reason });

describeSamples('Deployments', deployments, 'kube_deployment', [
  ['spec_replicas', { spec: { replicas: 0 } }, '0'],
  ['spec_paused', { spec: {} }, '0'],
  ['spec_paused', { spec: { paused: true } }, '1'],
  ['spec_strategy_rollingupdate_max_unavailable', rolling(5, { maxUnavailable: '25%' }), '1'],
  ['spec_strategy_rollingupdate_max_unavailable', rolling(5, { maxUnavailable: 2 }), '2'],
  ['spec_strategy_rollingupdate_max_surge', rolling(5, { maxSurge: '25%' }), '2'],
  ['spec_strategy_rollingupdate_max_surge', { spec: { strategy: { type: 'Recreate' } } }],
  ['status_replicas_unavailable', {}, '0'],
  ['status_replicas_unavailable', { status: { unavailableReplicas: 5 } }, '5'],
  ['status_terminating_replicas', { status: {} }],
  ['status_terminating_replicas', { status: { terminatingReplicas: 0 } }, '0'],
  ['metadata_generation', { metadata: { generation: 21 } }, '21'],
  ['owner', {}, 'owner_kind="",owner_name="" 1'],
  [
    'status_condition',
    {
      status: {
        conditions: [
          held('Available', 'True', 'MinimumReplicasAvailable'),
          held('Progressing', 'Unknown', 'Mine'),
        ],
      },
    },
    'reason="MinimumReplicasAvailable",condition="Available",status="true" 1',
    'reason="MinimumReplicasAvailable",condition="Available",status="false" 0',
    'reason="MinimumReplicasAvailable",condition="Available",status="unknown" 0',
    'reason="unknown",condition="Progressing",status="true" 0',
    'reason="unknown",condition="Progressing",status="false" 0',
    'reason="unknown",condition="Progressing",status="unknown" 1',
  ],
]);

describeSamples('ReplicaSets', replicaSets, 'kube_replicaset', [
  ['spec_replicas', { spec: { replicas: 5 } }, '5'],
  ['status_fully_labeled_replicas', { status: { fullyLabeledReplicas: 10 } }, '10'],
  ['status_ready_replicas', {}, '0'],
  ['status_terminating_replicas', { status: { terminatingReplicas: 2 } }, '2'],
]);

describeSamples('ReplicationControllers', replicationControllers, 'kube_replicationcontroller', [
  ['status_available_replicas', { status: { availableReplicas: 3 } }, '3'],
  ['status_observed_generation', { status: { observedGeneration: 1 } }, '1'],
]);

describeSamples('StatefulSets', statefulSets, 'kube_statefulset', [
  ['replicas', { spec: { replicas: 3 } }, '3'],
  ['ordinals_start', { spec: {} }],
  ['ordinals_start', { spec: { ordinals: {} } }, '0'],
  ['ordinals_start', { spec: { ordinals: { start: 2 } } }, '2'],
  ['persistentvolumeclaim_retention_policy', { spec: {} }],
  [
    'persistentvolumeclaim_retention_policy',
    { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } } },
    'when_deleted="Retain",when_scaled="Delete" 1',
  ],
  ['status_replicas_current', { status: { currentReplicas: 2 } }, '2'],
  ['status_update_revision', { status: { updateRevision: 'ur' } }, 'revision="ur" 1'],
  ['status_current_revision', {}, 'revision="" 1'],
]);

describeSamples('DaemonSets', daemonSets, 'kube_daemonset', [
  ['status_number_misscheduled', { status: { numberMisscheduled: 10 } }, '10'],
  ['status_updated_number_scheduled', {}, '0'],
]);

const failed = (conditions: object[]) => ({ status: { failed: 3, conditions } });
describeSamples('Jobs', jobs, 'kube_job', [
  ['info', {}, '1'],
  ['spec_completions', { spec: {} }],
  ['spec_completions', { spec: { completions: 1 } }, '1'],
  ['status_failed', {}, '0'],
  ['status_failed', failed([]), 'reason="" 3'],
  [
    'status_failed',
    failed([held('Failed', 'True', 'BackoffLimitExceeded')]),
    'reason="BackoffLimitExceeded" 1',
    'reason="DeadlineExceeded" 0',
    'reason="Evicted" 0',
  ],
  [
    'status_failed',
    failed([held('Failed', 'True', 'Other')]),
    'reason="BackoffLimitExceeded" 0',
    'reason="DeadlineExceeded" 0',
    'reason="Evicted" 0',
    'reason="" 3',
  ],
  ['complete', { status: { conditions: [] } }],
  [
    'failed',
    failed([held('Failed', 'True', 'Other')]),
    'condition="true" 1',
    'condition="false" 0',
    'condition="unknown" 0',
  ],
  ['status_suspended', {}],
  ['status_suspended', { status: { conditions: [held('Suspended', 'False', 'JobResumed')] } }, '0'],
]);

const created = { creationTimestamp: '2026-01-02T03:04:05Z' };
describeSamples('CronJobs', cronJobs, 'kube_cronjob', [
  [
    'info',
    { spec: { schedule: '0 * * * *', concurrencyPolicy: 'Forbid' } },
    'schedule="0 * * * *",concurrency_policy="Forbid",timezone="local" 1',
  ],
  ['next_schedule_time', { metadata: created, spec: { schedule: '0 * * * *' } }, '1767326400'],
  [
    'next_schedule_time',
    { metadata: created, spec: { schedule: '0 5 * * *', timeZone: 'Asia/Tokyo' } },
    '1767384000',
  ],
  [
    'next_schedule_time',
    {
      metadata: created,
      spec: { schedule: '@hourly' },
      status: { lastScheduleTime: '2026-01-02T06:00:00Z' },
    },
    '1767337200',
  ],
  ['next_schedule_time', { metadata: created, spec: { schedule: '0 * * * *', suspend: true } }],
  ['next_schedule_time', { metadata: created, spec: { schedule: 'no schedule' } }],
  ['schedule_invalid', { spec: { schedule: 'no schedule' } }, '1'],
  ['schedule_invalid', { spec: { schedule: '@daily', timeZone: 'Nowhere/None' } }, '1'],
  ['schedule_invalid', { spec: { schedule: '@daily' } }],
  ['status_active', { status: { active: [{}, {}] } }, '2'],
  ['metadata_resource_version', {}, '7'],
  ['metadata_resource_version', { metadata: { resourceVersion: 'abc' } }],
]);

const target = (type: string, part: string, value: object) => ({ type, [part]: value });
describeSamples('HorizontalPodAutoscalers', horizontalPodAutoscalers, 'kube_horizontalpodautoscaler', [
  [
    'info',
    { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' } } },
    'scaletargetref_kind="Deployment",scaletargetref_name="d" 1',
  ],
  ['spec_min_replicas', { spec: {} }, '1'],
  [
    'spec_target_metric',
    {
      spec: {
        metrics: [
          target('Object', 'object', {
            metric: { name: 'hits' },
            target: { value: '10', averageValue: '12' },
          }),
          target('Pods', 'pods', { metric: { name: 'work' }, target: { averageValue: '33' } }),
          target('Resource', 'resource', { name: 'cpu', target: { averageUtilization: 80 } }),
          target('ContainerResource', 'containerResource', {
            name: 'memory',
            container: 'c',
            target: { averageValue: '800Ki' },
          }),
          target('External', 'external', { metric: { name: 'jobs' }, target: { value: '500m' } }),
        ],
      },
    },
    'metric_name="hits",metric_target_type="value",container="" 10',
    'metric_name="hits",metric_target_type="average",container="" 12',
    'metric_name="work",metric_target_type="average",container="" 33',
    'metric_name="cpu",metric_target_type="utilization",container="" 80',
    'metric_name="memory",metric_target_type="average",container="c" 819200',
    'metric_name="jobs",metric_target_type="value",container="" 0.5',
  ],
  // A status may have a type without the field of this type.
  ['status_target_metric', { status: { currentMetrics: [{ type: 'Pods' }, { type: '' }] } }],
]);

describeSamples('PodDisruptionBudgets', podDisruptionBudgets, 'kube_poddisruptionbudget', [
  ['status_pod_disruptions_allowed', { status: { disruptionsAllowed: 2 } }, '2'],
  ['status_expected_pods', {}, '0'],
]);
