import type { Board } from './board.ts';

const cadvisor = 'job="kubelet", metrics_path="/metrics/cadvisor"';
const objects = 'job="kube-state-metrics"';
const used = 'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m';

export const clusterBoard: Board = {
  uid: 'minik8s-cluster',
  title: 'minik8s / Cluster',
  variables: [],
  sections: [
    {
      title: 'Overview',
      panels: [
        {
          title: 'Nodes',
          unit: 'none',
          as: 'stat',
          queries: [{ expr: `count(kube_node_info{${objects}})`, legend: 'nodes' }],
        },
        {
          title: 'Running pods',
          unit: 'none',
          as: 'stat',
          queries: [{ expr: `sum(kube_pod_status_phase{${objects}, phase="Running"})`, legend: 'pods' }],
        },
        {
          title: 'CPU usage',
          unit: 'percentunit',
          as: 'stat',
          queries: [{ expr: 'cluster:node_cpu:ratio_rate5m', legend: 'in use' }],
        },
        {
          title: 'Memory usage',
          unit: 'percentunit',
          as: 'stat',
          queries: [
            {
              expr: '1 - :node_memory_MemAvailable_bytes:sum / sum(machine_memory_bytes{job="kubelet"})',
              legend: 'in use',
            },
          ],
        },
      ],
    },
    {
      title: 'Nodes',
      panels: [
        {
          title: 'Ready',
          unit: 'none',
          queries: [
            {
              expr: `kube_node_status_condition{${objects}, condition="Ready", status="true"}`,
              legend: '{{node}}',
            },
          ],
        },
        {
          title: 'Pods',
          unit: 'none',
          queries: [{ expr: 'sum by (node) (kubelet_running_pods{job="kubelet"})', legend: '{{node}}' }],
        },
        {
          title: 'CPU usage',
          unit: 'percentunit',
          queries: [{ expr: 'node:node_cpu_utilization:ratio_rate5m', legend: '{{node}}' }],
        },
        {
          title: 'Memory usage',
          unit: 'bytes',
          queries: [
            {
              expr: `sum by (node) (container_memory_working_set_bytes{${cadvisor}, id="/"})`,
              legend: '{{node}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Namespaces',
      panels: [
        {
          title: 'CPU usage',
          unit: 'short',
          queries: [{ expr: `sum by (namespace) (${used})`, legend: '{{namespace}}' }],
        },
        {
          title: 'Memory usage',
          unit: 'bytes',
          queries: [
            {
              expr: 'sum by (namespace) (node_namespace_pod_container:container_memory_working_set_bytes)',
              legend: '{{namespace}}',
            },
          ],
        },
        {
          title: 'CPU requests and limits',
          unit: 'short',
          queries: [
            {
              expr: 'namespace_cpu:kube_pod_container_resource_requests:sum',
              legend: '{{namespace}} requests',
            },
            {
              expr: 'namespace_cpu:kube_pod_container_resource_limits:sum',
              legend: '{{namespace}} limits',
            },
          ],
        },
        {
          title: 'Memory requests and limits',
          unit: 'bytes',
          queries: [
            {
              expr: 'namespace_memory:kube_pod_container_resource_requests:sum',
              legend: '{{namespace}} requests',
            },
            {
              expr: 'namespace_memory:kube_pod_container_resource_limits:sum',
              legend: '{{namespace}} limits',
            },
          ],
        },
        {
          title: 'Received by pods',
          unit: 'Bps',
          queries: [
            {
              expr: `sum by (namespace) (rate(container_network_receive_bytes_total{${cadvisor}, namespace!=""}[$__rate_interval]))`,
              legend: '{{namespace}}',
            },
          ],
        },
        {
          title: 'Sent by pods',
          unit: 'Bps',
          queries: [
            {
              expr: `sum by (namespace) (rate(container_network_transmit_bytes_total{${cadvisor}, namespace!=""}[$__rate_interval]))`,
              legend: '{{namespace}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Workloads',
      panels: [
        {
          title: 'Pods of each workload',
          unit: 'none',
          as: 'table',
          queries: [
            {
              expr: 'count by (namespace, workload, workload_type) (namespace_workload_pod:kube_pod_owner:relabel)',
              legend: '{{namespace}}/{{workload}}',
            },
          ],
        },
        {
          title: 'Pods by phase',
          unit: 'none',
          queries: [{ expr: `sum by (phase) (kube_pod_status_phase{${objects}})`, legend: '{{phase}}' }],
        },
        {
          title: 'Restarts of containers in an hour',
          unit: 'none',
          queries: [
            {
              expr: `sum by (namespace) (increase(kube_pod_container_status_restarts_total{${objects}}[1h]))`,
              legend: '{{namespace}}',
            },
          ],
        },
      ],
    },
  ],
};
