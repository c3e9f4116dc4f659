/** Resource usage of a process, under the names of Prometheus' client libraries. Pure. */
import type { Family } from '../../../base/metrics/exposition.ts';
import { counter, gauge, single } from '../../../base/metrics/metric-family.ts';
import type { ProcessUsage } from '../../usage/plan/machine-files.ts';

export interface OwnProcess extends ProcessUsage {
  readonly openFiles: number;
  /** Undefined for no limit. */
  readonly maxFiles: number | undefined;
}

export function processMetrics(process: OwnProcess): readonly Family[] {
  const { cpu, resident, virtual, startedAt, openFiles, maxFiles } = process;
  return [
    counter(
      'process_cpu_seconds_total',
      'Total user and system CPU time spent in seconds.',
      single(cpu / 1e9),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', single(resident)),
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', single(virtual)),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      single(startedAt / 1000),
    ),
    gauge('process_open_fds', 'Number of open file descriptors.', single(openFiles)),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', single(maxFiles)),
  ];
}
