import type { Board } from './board.ts';

const own = 'namespace=~"$namespace", function=~"$function"';
const line = '{{namespace}}/{{function}}';
const duration = (quantile: number) =>
  `histogram_quantile(${quantile}, sum by (namespace, function, le) (rate(minik8s_function_call_duration_seconds_bucket{${own}}[$__rate_interval])))`;

export const functionsBoard: Board = {
  uid: 'minik8s-functions',
  title: 'minik8s / Functions',
  variables: [
    { name: 'namespace', series: 'minik8s_function_calls_total', label: 'namespace', several: true },
    {
      name: 'function',
      series: 'minik8s_function_calls_total{namespace=~"$namespace"}',
      label: 'function',
      several: true,
    },
  ],
  sections: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (namespace, function) (rate(minik8s_function_calls_total{${own}}[$__rate_interval]))`,
              legend: line,
            },
          ],
        },
        {
          title: 'Responses by status',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (code) (rate(minik8s_function_calls_total{${own}}[$__rate_interval]))`,
              legend: '{{code}}',
            },
          ],
        },
        {
          title: 'Duration of calls, median',
          unit: 's',
          queries: [{ expr: duration(0.5), legend: line }],
        },
        {
          title: 'Duration of calls, 99th percentile',
          unit: 's',
          queries: [{ expr: duration(0.99), legend: line }],
        },
        {
          title: 'Calls that wait for an instance',
          unit: 'none',
          queries: [
            { expr: `sum by (namespace, function) (minik8s_function_calls_waiting{${own}})`, legend: line },
          ],
        },
        {
          title: 'Cold starts in an hour',
          unit: 'none',
          queries: [
            {
              expr: `sum by (namespace, function) (increase(minik8s_function_cold_starts_total{${own}}[1h]))`,
              legend: line,
            },
          ],
        },
      ],
    },
    {
      title: 'Instances',
      panels: [
        {
          title: 'Instances',
          unit: 'none',
          queries: [
            {
              expr: `max by (namespace, function, state) (minik8s_function_instances{${own}})`,
              legend: `${line} {{state}}`,
            },
          ],
        },
        {
          title: 'Calls, mean of five minutes',
          unit: 'ops',
          queries: [{ expr: `namespace_function:minik8s_function_calls:rate5m{${own}}`, legend: line }],
        },
      ],
    },
  ],
};
