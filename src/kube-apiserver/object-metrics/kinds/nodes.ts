/** Nodes. */
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { conditions } from '../condition-samples.ts';
import { fact, gauge, gauges, info, objectMetrics } from '../family.ts';
import { created, deletionTimestamp, named } from '../metadata-families.ts';
import { nodeAmounts } from '../resource-units.ts';

const rolePrefix = 'node-role.kubernetes.io/';

const amountSamples = (amounts: Readonly<Record<string, string>> | undefined) =>
  nodeAmounts(amounts).map(({ resource, unit, value }) => ({ labels: { resource, unit }, value }));

export const nodes = objectMetrics<Node>({
  ref: nodeResource,
  labelsOf: named('node'),
  families: [
    info('kube_node_info', 'Machine and software versions of the node.', ({ spec, status }) => ({
      kernel_version: status?.nodeInfo?.kernelVersion ?? '',
      os_image: status?.nodeInfo?.osImage ?? '',
      container_runtime_version: status?.nodeInfo?.containerRuntimeVersion ?? '',
      kubelet_version: status?.nodeInfo?.kubeletVersion ?? '',
      // Same value as upstream, where no component reports this version any more.
      kubeproxy_version: 'deprecated',
      provider_id: spec?.providerID ?? '',
      pod_cidr: spec?.podCIDR ?? '',
      system_uuid: status?.nodeInfo?.systemUUID ?? '',
      internal_ip: status?.addresses?.findLast(({ type }) => type === 'InternalIP')?.address ?? '',
    })),
    created('kube_node'),
    deletionTimestamp('kube_node'),
    gauges('kube_node_role', 'Roles of the node, from its labels.', ({ metadata }) =>
      Object.keys(metadata.labels ?? {})
        .filter((label) => label.startsWith(rolePrefix))
        .map((label) => fact({ role: label.slice(rolePrefix.length) })),
    ),
    gauges('kube_node_spec_taint', 'The taints of the node.', ({ spec }) =>
      (spec?.taints ?? []).map(({ key, value, effect }) => fact({ key, value: value ?? '', effect })),
    ),
    gauge(
      'kube_node_spec_unschedulable',
      'Whether the node is unschedulable.',
      ({ spec }) => spec?.unschedulable ?? false,
    ),
    gauges('kube_node_status_allocatable', 'Resources of the node that pods can request.', ({ status }) =>
      amountSamples(status?.allocatable),
    ),
    gauges('kube_node_status_capacity', 'Total resources of the node.', ({ status }) =>
      amountSamples(status?.capacity),
    ),
    conditions(
      'kube_node_status_condition',
      'The conditions of the node.',
      ({ status }) => status?.conditions,
    ),
    gauges('kube_node_status_addresses', 'The addresses of the node.', ({ status }) =>
      (status?.addresses ?? []).map(({ type, address }) => fact({ type, address })),
    ),
  ],
});
