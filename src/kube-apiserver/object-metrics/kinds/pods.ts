/** Pods: identity and placement. Their status is in pod-status.ts, their containers in pod-containers.ts. */
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import type { Toleration } from '../../../api/core/v1/types.gen.ts';
import { isIPv4, isIPv6 } from '../../../base/addresses.ts';
import { fact, gauge, gauges, info, type ObjectFamily, objectMetrics } from '../family.ts';
import { created, deletionTimestamp, namespaced, owner } from '../metadata-families.ts';
import { unitsOf, wholeUnitsOf } from '../resource-units.ts';
import { containerFamilies } from './pod-containers.ts';
import { statusFamilies } from './pod-status.ts';

const podName = namespaced('pod');

const families: readonly ObjectFamily<Pod>[] = [
  info('kube_pod_info', 'Node, owner and priority of the pod.', podInfo),
  created('kube_pod'),
  deletionTimestamp('kube_pod'),
  owner('kube_pod'),
  gauges('kube_pod_ips', 'The addresses of the pod.', ({ status }) =>
    (status?.podIPs ?? []).flatMap(({ ip }) => {
      const family = isIPv4(ip) ? '4' : isIPv6(ip) ? '6' : undefined;
      return family ? [fact({ ip, ip_family: family })] : [];
    }),
  ),
  gauge('kube_pod_overhead_cpu_cores', 'CPU overhead of the pod, in cores.', ({ spec }) =>
    unitsOf(spec.overhead?.cpu),
  ),
  gauge('kube_pod_overhead_memory_bytes', 'Memory overhead of the pod, in bytes.', ({ spec }) =>
    wholeUnitsOf(spec.overhead?.memory),
  ),
  info('kube_pod_restart_policy', 'Restart policy of the pod.', ({ spec }) => ({
    type: spec.restartPolicy,
  })),
  info('kube_pod_runtimeclass_name_info', 'The RuntimeClass of the pod.', ({ spec }) =>
    spec.runtimeClassName === undefined ? undefined : { runtimeclass_name: spec.runtimeClassName },
  ),
  info('kube_pod_scheduler', 'Scheduler of the pod.', ({ spec }) => ({
    name: spec.schedulerName,
  })),
  info('kube_pod_service_account', 'The ServiceAccount of the pod.', ({ spec }) => ({
    service_account: spec.serviceAccountName ?? '',
  })),
  gauges(
    'kube_pod_spec_volumes_persistentvolumeclaims_info',
    'Claims that the pod mounts as volumes.',
    (pod) => claimVolumes(pod).map(({ labels }) => fact(labels)),
  ),
  gauges(
    'kube_pod_spec_volumes_persistentvolumeclaims_readonly',
    'Whether the pod mounts the claim read-only.',
    (pod) => claimVolumes(pod).map(({ labels, readOnly }) => ({ labels, value: Number(readOnly) })),
  ),
  gauges('kube_pod_tolerations', 'The taints that the pod tolerates.', ({ spec }) => [
    ...new Map(
      spec.tolerations?.map(tolerationLabels).map((labels) => [JSON.stringify(labels), fact(labels)]),
    ).values(),
  ]),
  ...statusFamilies,
  ...containerFamilies,
];

function podInfo({ metadata, spec, status }: Pod) {
  const maker = metadata.ownerReferences?.find(({ controller }) => controller);
  return {
    host_ip: status?.hostIP ?? '',
    pod_ip: status?.podIP ?? '',
    node: spec.nodeName ?? '',
    created_by_kind: maker?.kind ?? '',
    created_by_name: maker?.name ?? '',
    priority_class: spec.priorityClassName ?? '',
    host_network: String(spec.hostNetwork ?? false),
  };
}

const claimVolumes = ({ spec }: Pod) =>
  (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim }) =>
    claim
      ? [
          {
            labels: { volume: name, persistentvolumeclaim: claim.claimName },
            readOnly: claim.readOnly ?? false,
          },
        ]
      : [],
  );

const tolerationLabels = ({ key, operator, value, effect, tolerationSeconds }: Toleration) => ({
  key: key ?? '',
  operator: operator ?? '',
  value: value ?? '',
  effect: effect ?? '',
  toleration_seconds: tolerationSeconds === undefined ? '' : String(tolerationSeconds),
});

export const pods = objectMetrics<Pod>({
  ref: podResource,
  labelsOf: (pod) => ({ ...podName(pod), uid: pod.metadata.uid }),
  families,
});
