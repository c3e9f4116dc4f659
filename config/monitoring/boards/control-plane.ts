import type { Board } from './board.ts';

const api = 'job="apiserver"';
const controllers = 'job="kube-controller-manager"';
const scheduler = 'job="kube-scheduler"';
const quantile = (of: string, by: string, labels: string) =>
  `histogram_quantile(0.99, sum by (${by}, le) (rate(${of}_bucket{${labels}}[5m])))`;

export const controlPlaneBoard: Board = {
  uid: 'minik8s-control-plane',
  title: 'minik8s / Control plane',
  variables: [],
  sections: [
    {
      title: 'API server',
      panels: [
        {
          title: 'Masters that answer',
          unit: 'none',
          queries: [{ expr: `sum(up{${api}})`, legend: 'masters' }],
        },
        {
          title: 'Requests',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (verb) (rate(apiserver_request_total{${api}}[$__rate_interval]))`,
              legend: '{{verb}}',
            },
          ],
        },
        {
          title: 'Responses by status',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (code) (rate(apiserver_request_total{${api}}[$__rate_interval]))`,
              legend: '{{code}}',
            },
          ],
        },
        {
          title: 'Duration of requests, 99th percentile',
          unit: 's',
          queries: [
            {
              expr: quantile('apiserver_request_duration_seconds', 'verb', `${api}, verb!~"WATCH|CONNECT"`),
              legend: '{{verb}}',
            },
          ],
        },
        {
          title: 'Requests in flight',
          unit: 'none',
          queries: [
            {
              expr: `sum by (request_kind) (apiserver_current_inflight_requests{${api}})`,
              legend: '{{request_kind}}',
            },
          ],
        },
        {
          title: 'Watches and other long-running requests',
          unit: 'none',
          queries: [{ expr: `sum by (verb) (apiserver_longrunning_requests{${api}})`, legend: '{{verb}}' }],
        },
      ],
    },
    {
      title: 'etcd',
      panels: [
        {
          title: 'Requests',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (operation) (rate(etcd_requests_total{${api}}[$__rate_interval]))`,
              legend: '{{operation}}',
            },
          ],
        },
        {
          title: 'Duration of requests, 99th percentile',
          unit: 's',
          queries: [
            { expr: quantile('etcd_request_duration_seconds', 'operation', api), legend: '{{operation}}' },
          ],
        },
      ],
    },
    {
      title: 'Controllers',
      panels: [
        {
          title: 'Queued objects',
          unit: 'none',
          queries: [{ expr: `sum by (name) (workqueue_depth{${controllers}})`, legend: '{{name}}' }],
        },
        {
          title: 'Objects added',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (name) (rate(workqueue_adds_total{${controllers}}[$__rate_interval]))`,
              legend: '{{name}}',
            },
          ],
        },
        {
          title: 'Time in the queue, 99th percentile',
          unit: 's',
          queries: [
            { expr: quantile('workqueue_queue_duration_seconds', 'name', controllers), legend: '{{name}}' },
          ],
        },
        {
          title: 'Duration of the work, 99th percentile',
          unit: 's',
          queries: [
            { expr: quantile('workqueue_work_duration_seconds', 'name', controllers), legend: '{{name}}' },
          ],
        },
      ],
    },
    {
      title: 'Scheduler',
      panels: [
        {
          title: 'Attempts',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (result) (rate(scheduler_schedule_attempts_total{${scheduler}}[5m]))`,
              legend: '{{result}}',
            },
          ],
        },
        {
          title: 'Duration of attempts, 99th percentile',
          unit: 's',
          queries: [
            {
              expr: quantile('scheduler_scheduling_attempt_duration_seconds', 'result', scheduler),
              legend: '{{result}}',
            },
          ],
        },
        {
          title: 'Pending pods',
          unit: 'none',
          queries: [{ expr: `sum by (queue) (scheduler_pending_pods{${scheduler}})`, legend: '{{queue}}' }],
        },
      ],
    },
    {
      title: 'Process',
      panels: [
        {
          title: 'CPU usage',
          unit: 'short',
          queries: [
            {
              expr: `rate(process_cpu_seconds_total{${api}}[$__rate_interval])`,
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Memory usage',
          unit: 'bytes',
          queries: [{ expr: `process_resident_memory_bytes{${api}}`, legend: '{{instance}}' }],
        },
      ],
    },
  ],
};
