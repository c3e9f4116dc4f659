/** Resource usage of this process, under Prometheus' usual metric names for a process and for Node. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Family } from '../base/metrics/exposition.ts';

/** Returns the metrics; values that cannot be read are left out. */
export function processMetrics(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const gauge = (name: string, help: string, value: number | undefined): Family => ({
    ...{ name, help, type: 'gauge' },
    samples: value === undefined ? [] : [{ value }],
  });
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    },
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', rss),
    gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', startedAt),
    gauge(
      'process_open_fds',
      'Number of open file descriptors.',
      read(() => readdirSync('/proc/self/fd').length),
    ),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', maxFiles),
    gauge('nodejs_heap_size_used_bytes', 'Bytes of the heap that objects use.', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Bytes of the heap.', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Bytes of buffers outside of the heap.', external),
    gauge(
      'nodejs_eventloop_utilization',
      'Part of the time since the start in which the event loop was busy, from 0 to 1.',
      performance.eventLoopUtilization().utilization,
    ),
  ];
}

const startedAt = Math.round(Date.now() / 1000 - process.uptime());

const maxFiles = read(() => {
  const most = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return most === undefined ? undefined : Number(most);
});

function read(value: () => number | undefined): number | undefined {
  try {
    return value();
  } catch {
    return undefined;
  }
}
