/** Describers by group and kind; every other kind has the generic one. */
import type { Describer } from './describer.ts';

/** Loads a describer when an object of its kind is described. */
type Load = () => Promise<Describer>;

const workload = (name: keyof typeof import('./workloads.ts')) => async () =>
  (await import('./workloads.ts'))[name];
const access = (name: keyof typeof import('./access.ts')) => async () => (await import('./access.ts'))[name];

const describers: Readonly<Record<string, Load>> = {
  Pod: async () => (await import('./pod.ts')).pod,
  Node: async () => (await import('./node.ts')).node,
  Service: async () => (await import('./services.ts')).service,
  Endpoints: async () => (await import('./services.ts')).endpoints,
  'EndpointSlice.discovery.k8s.io': async () => (await import('./services.ts')).endpointSlice,
  ReplicationController: workload('replicationController'),
  'Deployment.apps': workload('deployment'),
  'ReplicaSet.apps': workload('replicaSet'),
  'StatefulSet.apps': workload('statefulSet'),
  'DaemonSet.apps': workload('daemonSet'),
  'Job.batch': async () => (await import('./jobs.ts')).job,
  'CronJob.batch': async () => (await import('./jobs.ts')).cronJob,
  PersistentVolumeClaim: async () => (await import('./claims.ts')).persistentVolumeClaim,
  PersistentVolume: async () => (await import('./storage.ts')).persistentVolume,
  'StorageClass.storage.k8s.io': async () => (await import('./storage.ts')).storageClass,
  'CSINode.storage.k8s.io': async () => (await import('./storage.ts')).csiNode,
  ConfigMap: async () => (await import('./config.ts')).configMap,
  Secret: async () => (await import('./config.ts')).secret,
  ServiceAccount: async () => (await import('./config.ts')).serviceAccount,
  Namespace: async () => (await import('./namespaces.ts')).namespace,
  ResourceQuota: async () => (await import('./namespaces.ts')).resourceQuota,
  LimitRange: async () => (await import('./namespaces.ts')).limitRange,
  'Role.rbac.authorization.k8s.io': access('role'),
  'ClusterRole.rbac.authorization.k8s.io': access('role'),
  'RoleBinding.rbac.authorization.k8s.io': access('roleBinding'),
  'ClusterRoleBinding.rbac.authorization.k8s.io': access('roleBinding'),
  'HorizontalPodAutoscaler.autoscaling': async () =>
    (await import('./autoscaler.ts')).horizontalPodAutoscaler,
  'PodDisruptionBudget.policy': async () => (await import('./autoscaler.ts')).podDisruptionBudget,
  'Ingress.networking.k8s.io': async () => (await import('./ingress.ts')).ingress,
  'IngressClass.networking.k8s.io': async () => (await import('./ingress.ts')).ingressClass,
  'NetworkPolicy.networking.k8s.io': async () => (await import('./network-policy.ts')).networkPolicy,
  'PriorityClass.scheduling.k8s.io': async () => (await import('./others.ts')).priorityClass,
  'CertificateSigningRequest.certificates.k8s.io': async () =>
    (await import('./others.ts')).certificateSigningRequest,
};

/** Resolves to the describer of a kind; `added` has those of the features. */
export async function describerOf(
  kind: { readonly group: string; readonly kind: string },
  added: Readonly<Record<string, Load>> = {},
): Promise<Describer> {
  const key = kind.group ? `${kind.kind}.${kind.group}` : kind.kind;
  const all = { ...added, ...describers };
  const load = Object.hasOwn(all, key) ? all[key] : undefined;
  return load ? load() : (await import('./generic.ts')).generic;
}
