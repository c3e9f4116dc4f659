import type { Board, Panel } from './board.ts';

const own = 'namespace="$namespace", pod=~"$pod"';
const cadvisor = `job="kubelet", metrics_path="/metrics/cadvisor", ${own}`;
const objects = `job="kube-state-metrics", ${own}`;
const line = '{{pod}} {{container}}';

const asked = (kind: 'limits' | 'requests', resource: 'cpu' | 'memory') => ({
  expr: `sum by (pod, container) (kube_pod_container_resource_${kind}{${objects}, resource="${resource}"})`,
  legend: `${line} ${kind === 'limits' ? 'limit' : 'request'}`,
});

const network = (title: string, name: string, unit: Panel['unit']): Panel => ({
  title,
  unit,
  queries: [
    {
      expr: `sum by (pod) (rate(container_network_${name}_total{${cadvisor}}[$__rate_interval]))`,
      legend: '{{pod}}',
    },
  ],
});

export const podBoard: Board = {
  uid: 'minik8s-pod',
  title: 'minik8s / Pod',
  variables: [
    {
      name: 'namespace',
      series: 'container_memory_working_set_bytes{job="kubelet", container!=""}',
      label: 'namespace',
    },
    {
      name: 'pod',
      series: 'container_memory_working_set_bytes{job="kubelet", container!="", namespace="$namespace"}',
      label: 'pod',
      several: true,
    },
  ],
  sections: [
    {
      title: 'State',
      panels: [
        {
          title: 'Pod and node',
          unit: 'none',
          as: 'table',
          queries: [{ expr: `kube_pod_info{${objects}}`, legend: '{{pod}}' }],
        },
        {
          title: 'Ready',
          unit: 'none',
          queries: [{ expr: `kube_pod_status_ready{${objects}, condition="true"}`, legend: '{{pod}}' }],
        },
        {
          title: 'Restarts',
          unit: 'none',
          queries: [{ expr: `kube_pod_container_status_restarts_total{${objects}}`, legend: line }],
        },
      ],
    },
    {
      title: 'CPU and memory',
      panels: [
        {
          title: 'CPU usage, requests and limits',
          unit: 'short',
          queries: [
            {
              expr: `sum by (pod, container) (rate(container_cpu_usage_seconds_total{${cadvisor}, container!=""}[$__rate_interval]))`,
              legend: line,
            },
            asked('requests', 'cpu'),
            asked('limits', 'cpu'),
          ],
        },
        {
          title: 'CPU throttling',
          unit: 'percentunit',
          queries: [
            {
              expr: `sum by (pod, container) (increase(container_cpu_cfs_throttled_periods_total{${cadvisor}, container!=""}[$__rate_interval])) / sum by (pod, container) (increase(container_cpu_cfs_periods_total{${cadvisor}, container!=""}[$__rate_interval]))`,
              legend: line,
            },
          ],
        },
        {
          title: 'Memory usage, requests and limits',
          unit: 'bytes',
          queries: [
            {
              expr: `sum by (pod, container) (container_memory_working_set_bytes{${cadvisor}, container!=""})`,
              legend: line,
            },
            asked('requests', 'memory'),
            asked('limits', 'memory'),
          ],
        },
        {
          title: 'Memory by kind',
          unit: 'bytes',
          queries: [
            {
              expr: `sum by (pod) (container_memory_rss{${cadvisor}, container!=""})`,
              legend: '{{pod}} anonymous',
            },
            {
              expr: `sum by (pod) (container_memory_cache{${cadvisor}, container!=""})`,
              legend: '{{pod}} page cache',
            },
            {
              expr: `sum by (pod) (container_memory_swap{${cadvisor}, container!=""})`,
              legend: '{{pod}} swap',
            },
          ],
        },
        {
          title: 'Out-of-memory kills',
          unit: 'none',
          queries: [
            {
              expr: `sum by (pod, container) (increase(container_oom_events_total{${cadvisor}, container!=""}[1h]))`,
              legend: line,
            },
          ],
        },
        {
          title: 'Processes and threads',
          unit: 'none',
          queries: [
            {
              expr: `sum by (pod, container) (container_processes{${cadvisor}, container!=""})`,
              legend: line,
            },
          ],
        },
      ],
    },
    {
      title: 'Network',
      panels: [
        network('Received', 'receive_bytes', 'Bps'),
        network('Sent', 'transmit_bytes', 'Bps'),
        network('Packets received', 'receive_packets', 'pps'),
        network('Packets sent', 'transmit_packets', 'pps'),
        network('Packets dropped while receiving', 'receive_packets_dropped', 'pps'),
        network('Packets dropped while sending', 'transmit_packets_dropped', 'pps'),
      ],
    },
    {
      title: 'Disks',
      panels: [
        {
          title: 'Written outside of volumes',
          unit: 'bytes',
          queries: [
            {
              expr: `sum by (pod, container) (container_fs_usage_bytes{${cadvisor}, container!=""})`,
              legend: line,
            },
          ],
        },
        {
          title: 'Written to disks',
          unit: 'Bps',
          queries: [
            {
              expr: `sum by (pod, container) (rate(container_fs_writes_bytes_total{${cadvisor}, container!=""}[$__rate_interval]))`,
              legend: line,
            },
          ],
        },
      ],
    },
  ],
};
