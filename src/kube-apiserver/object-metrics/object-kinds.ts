/**
 * The kinds on /metrics/objects besides those of features. To add a kind, add a file in kinds/ and a line
 * here.
 */
import type { ObjectMetrics } from './family.ts';
import { certificateSigningRequests, leases, namespaces } from './kinds/cluster.ts';
import { cronJobs } from './kinds/cron-jobs.ts';
import { daemonSets } from './kinds/daemon-sets.ts';
import { configMaps, secrets } from './kinds/data.ts';
import { deployments } from './kinds/deployments.ts';
import { endpointSlices, endpoints } from './kinds/endpoints.ts';
import { horizontalPodAutoscalers } from './kinds/horizontal-pod-autoscalers.ts';
import { jobs } from './kinds/jobs.ts';
import { limitRanges, resourceQuotas } from './kinds/limits.ts';
import { ingresses, networkPolicies } from './kinds/networking.ts';
import { nodes } from './kinds/nodes.ts';
import { podDisruptionBudgets } from './kinds/pod-disruption-budgets.ts';
import { pods } from './kinds/pods.ts';
import { replicaSets, replicationControllers } from './kinds/replicas.ts';
import { services } from './kinds/services.ts';
import { statefulSets } from './kinds/stateful-sets.ts';
import { storageClasses, volumeAttachments } from './kinds/storage.ts';
import { persistentVolumeClaims, persistentVolumes } from './kinds/volumes.ts';

export const objectKinds: readonly ObjectMetrics[] = [
  certificateSigningRequests,
  configMaps,
  cronJobs,
  daemonSets,
  deployments,
  endpoints,
  endpointSlices,
  horizontalPodAutoscalers,
  ingresses,
  jobs,
  leases,
  limitRanges,
  namespaces,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  secrets,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
];
