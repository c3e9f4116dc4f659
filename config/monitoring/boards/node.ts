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
      title: 'The machine',
      panels: [
        {
          title: 'Processors',
          unit: 'short',
          queries: [
            { expr: `sum by (node) (machine_cpu_cores{${cadvisor}})`, legend: '{{node}} has' },
            {
              expr: `sum by (node) (rate(container_cpu_usage_seconds_total{${cadvisor}, id="/"}[$__rate_interval]))`,
              legend: '{{node}} uses',
            },
          ],
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: [
            { expr: `sum by (node) (machine_memory_bytes{${cadvisor}})`, legend: '{{node}} has' },
            {
              expr: `sum by (node) (container_memory_working_set_bytes{${cadvisor}, id="/"})`,
              legend: '{{node}} uses',
            },
          ],
        },
        network('Received', 'receive'),
        network('Sent', 'transmit'),
      ],
    },
    {
      title: 'What runs on it',
      panels: [
        {
          title: 'Pods',
          unit: 'none',
          queries: [
            { expr: `kubelet_running_pods{${agent}}`, legend: '{{node}} runs' },
            { expr: `kubelet_desired_pods{${agent}}`, legend: '{{node}} should run' },
          ],
        },
        {
          title: 'Containers by state',
          unit: 'none',
          queries: [{ expr: `kubelet_running_containers{${agent}}`, legend: '{{node}} {{container_state}}' }],
        },
        {
          title: 'Processors by pod, the first ten',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{${cadvisor}, container!=""}[$__rate_interval])))`,
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Memory by pod, the first ten',
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
      title: 'Its agent',
      panels: [
        {
          title: 'Start of pods, 99 of 100',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (node, le) (rate(kubelet_pod_start_duration_seconds_bucket{${agent}}[5m])))`,
              legend: '{{node}}',
            },
          ],
        },
        {
          title: 'Operations of the engine',
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
      title: 'Services and names',
      panels: [
        {
          title: 'Rules of Services written, 99 of 100',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.99, sum by (node, le) (rate(kubeproxy_sync_proxy_rules_duration_seconds_bucket{job="kube-proxy", ${own}}[5m])))`,
              legend: '{{node}}',
            },
          ],
        },
        {
          title: 'Answers of cluster DNS',
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
