/** PodDisruptionBudgets. */
import {
  type PodDisruptionBudget,
  podDisruptionBudgetResource,
} from '../../../api/policy/v1/pod-disruption-budget.ts';
import { gauge, objectMetrics } from '../family.ts';
import { created, deletionTimestamp, namespaced, observedGeneration } from '../metadata-families.ts';

export const podDisruptionBudgets = objectMetrics<PodDisruptionBudget>({
  ref: podDisruptionBudgetResource,
  labelsOf: namespaced('poddisruptionbudget'),
  families: [
    created('kube_poddisruptionbudget'),
    deletionTimestamp('kube_poddisruptionbudget'),
    gauge(
      'kube_poddisruptionbudget_status_current_healthy',
      'Number of healthy pods.',
      ({ status }) => status?.currentHealthy ?? 0,
    ),
    gauge(
      'kube_poddisruptionbudget_status_desired_healthy',
      'Minimum number of healthy pods.',
      ({ status }) => status?.desiredHealthy ?? 0,
    ),
    gauge(
      'kube_poddisruptionbudget_status_pod_disruptions_allowed',
      'Number of evictions allowed now.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    gauge(
      'kube_poddisruptionbudget_status_expected_pods',
      'Number of pods that the budget counts.',
      ({ status }) => status?.expectedPods ?? 0,
    ),
    observedGeneration('kube_poddisruptionbudget'),
  ],
});
