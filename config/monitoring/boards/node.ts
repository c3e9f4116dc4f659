import type { Board, Panel } from './board.ts';

const own = 'node=~"$node"';
const agent = `job="kubelet", metrics_path="/metrics", ${own}`;
const cadvisor = `job="kubelet", metrics_path="/metrics/cadvisor", ${own}`;

const network = (title: string, direction: 'receive' | 'transmit'): Panel => ({
  title,
  unit: 'Bps',
  queries: [
    {
      expr: `sum by (node, interface) (rate(container_network_${direction}_bytes_total{${cadvisor}, id="/"}[$__rate_interval]))`,
      legend: '{{node}} {{interface}}',
    },
  ],
});

export const nodeBoard: Board = {
  uid: 'minik8s-node',
  title: 'minik8s / Node',
  variables: [{ name: 'node', series: 'machine_cpu_cores{job="kubelet"}', label: 'node', several: true }],
  sections: [
    {
      title: 'Machine',
      panels: [
        {
          title: 'CPU cores and usage',
          unit: 'short',
          queries: [
            { expr: `sum by (node) (machine_cpu_cores{${cadvisor}})`, legend: '{{node}} capacity' },
            {
              expr: `sum by (node) (rate(container_cpu_usage_seconds_total{${cadvisor}, id="/"}[$__rate_interval]))`,
              legend: '{{node}} usage',
            },
          ],
        },
        {
          title: 'Memory and its usage',
          unit: 'bytes',
          queries: [
            { expr: `sum by (node) (machine_memory_bytes{${cadvisor}})`, legend: '{{node}} capacity' },
            {
              expr: `sum by (node) (container_memory_working_set_bytes{${cadvisor}, id="/"})`,
              legend: '{{node}} usage',
            },
          ],
        },
        network('Received', 'receive'),
        network('Sent', 'transmit'),
      ],
    },
    {
      title: 'Pods and containers',
      panels: [
        {
          title: 'Pods',
          unit: 'none',
          queries: [
            { expr: `kubelet_running_pods{${agent}}`, legend: '{{node}} running' },
            { expr: `kubelet_desired_pods{${agent}}`, legend: '{{node}} desired' },
          ],
        },
        {
          title: 'Containers by state',
          unit: 'none',
          queries: [{ expr: `kubelet_running_containers{${agent}}`, legend: '{{node}} {{container_state}}' }],
        },
        {
          title: 'CPU usage by pod, top ten',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{${cadvisor}, container!=""}[$__rate_interval])))`,
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Memory usage by pod, top ten',
          unit: 'bytes',
          queries: [
            {
              expr: `topk(10, sum by (namespace, pod) (container_memory_working_set_bytes{${cadvisor}, container!=""}))`,
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Node agent',
      panels: [
        {
          title: 'Duration of pod starts, 99th percentile',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (node, le) (rate(kubelet_pod_start_duration_seconds_bucket{${agent}}[5m])))`,
              legend: '{{node}}',
            },
          ],
        },
        {
          title: 'Operations of the container engine',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (node, operation_type) (rate(kubelet_runtime_operations_total{${agent}}[$__rate_interval]))`,
              legend: '{{node}} {{operation_type}}',
            },
          ],
        },
        {
          title: 'Probes',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (node, probe_type, result) (rate(prober_probe_total{job="kubelet", ${own}}[$__rate_interval]))`,
              legend: '{{node}} {{probe_type}} {{result}}',
            },
          ],
        },
        {
          title: 'Memory of the agent',
          unit: 'bytes',
          queries: [{ expr: `process_resident_memory_bytes{${agent}}`, legend: '{{node}}' }],
        },
      ],
    },
    {
      title: 'Services and DNS',
      panels: [
        {
          title: 'Duration of writing Service rules, 99th percentile',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (node, le) (rate(kubeproxy_sync_proxy_rules_duration_seconds_bucket{job="kube-proxy", ${own}}[5m])))`,
              legend: '{{node}}',
            },
          ],
        },
        {
          title: 'Responses of cluster DNS',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (node, rcode) (rate(coredns_dns_responses_total{job="kube-dns", ${own}}[$__rate_interval]))`,
              legend: '{{node}} {{rcode}}',
            },
          ],
        },
      ],
    },
  ],
};
