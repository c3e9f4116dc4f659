/** Deployments. */
import { type Deployment, deploymentResource } from '../../../api/apps/v1/deployment.ts';
import { type IntOrPercent, resolveCount } from '../../../api/int-or-percent.ts';
import { statusSamples } from '../condition-samples.ts';
import { gauge, gauges, objectMetrics } from '../family.ts';
import {
  created,
  deletionTimestamp,
  generation,
  namespaced,
  observedGeneration,
  owners,
} from '../metadata-families.ts';

/** Other reasons are reported as `unknown`, so that users cannot create new series by writing reasons. */
const knownReasons: ReadonlySet<string> = new Set([
  'ReplicaSetUpdated',
  'ReplicaSetCreateError',
  'NewReplicaSetCreated',
  'FoundNewReplicaSet',
  'NewReplicaSetAvailable',
  'ProgressDeadlineExceeded',
  'DeploymentPaused',
  'DeploymentResumed',
  'MinimumReplicasAvailable',
  'MinimumReplicasUnavailable',
  '',
]);

const count = (
  bound: IntOrPercent | undefined,
  spec: Deployment['spec'],
  round: (value: number) => number,
) => (bound === undefined ? undefined : resolveCount(bound, spec.replicas, round));

export const deployments = objectMetrics<Deployment>({
  ref: deploymentResource,
  labelsOf: namespaced('deployment'),
  families: [
    owners('kube_deployment_owner', (owner) => ({
      owner_kind: owner?.kind ?? '',
      owner_name: owner?.name ?? '',
    })),
    created('kube_deployment'),
    deletionTimestamp('kube_deployment'),
    generation('kube_deployment'),
    gauge('kube_deployment_spec_replicas', 'Desired number of pods.', ({ spec }) => spec.replicas),
    gauge(
      'kube_deployment_spec_paused',
      'Whether the Deployment is paused.',
      ({ spec }) => spec.paused ?? false,
    ),
    gauge(
      'kube_deployment_spec_strategy_rollingupdate_max_unavailable',
      'Maximum number of unavailable pods during a rolling update.',
      ({ spec }) => count(spec.strategy?.rollingUpdate?.maxUnavailable, spec, Math.floor),
    ),
    gauge(
      'kube_deployment_spec_strategy_rollingupdate_max_surge',
      'Maximum number of surplus pods during a rolling update.',
      ({ spec }) => count(spec.strategy?.rollingUpdate?.maxSurge, spec, Math.ceil),
    ),
    gauge(
      'kube_deployment_status_replicas',
      'Current number of pods.',
      ({ status }) => status?.replicas ?? 0,
    ),
    gauge(
      'kube_deployment_status_replicas_ready',
      'Number of ready pods.',
      ({ status }) => status?.readyReplicas ?? 0,
    ),
    gauge(
      'kube_deployment_status_replicas_available',
      'Number of available pods.',
      ({ status }) => status?.availableReplicas ?? 0,
    ),
    gauge(
      'kube_deployment_status_replicas_unavailable',
      'Number of unavailable pods.',
      ({ status }) => status?.unavailableReplicas ?? 0,
    ),
    gauge(
      'kube_deployment_status_replicas_updated',
      'Number of pods of the newest template.',
      ({ status }) => status?.updatedReplicas ?? 0,
    ),
    gauge(
      'kube_deployment_status_terminating_replicas',
      'Number of terminating pods.',
      ({ status }) => status?.terminatingReplicas,
    ),
    observedGeneration('kube_deployment'),
    gauges('kube_deployment_status_condition', 'The conditions of the Deployment.', ({ status }) =>
      (status?.conditions ?? []).flatMap(({ type, status: held, reason = '' }) =>
        statusSamples(held, 'status', {
          reason: knownReasons.has(reason) ? reason : 'unknown',
          condition: type,
        }),
      ),
    ),
  ],
});
