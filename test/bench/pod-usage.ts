/**
 * Usage of 100 real containers, read every 15 seconds as Prometheus and metrics-server do: the share of a
 * core that this takes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exposition } from '../../src/base/metrics/exposition.ts';
import type { ContainerState, SandboxState } from '../../src/kubelet/runtime/runtime.ts';
import { cadvisorMetrics } from '../../src/kubelet/server/plan/cadvisor-metrics.ts';
import { resourceMetrics } from '../../src/kubelet/server/plan/resource-metrics.ts';
import { groupDirectories } from '../../src/kubelet/usage/plan/cgroup-files.ts';
import { type Benchmark, median, type Row } from './report.ts';
import { withUsedPods } from './used-pods.ts';

const containers = 100;
const reads = 15;
const everySeconds = 15;

const facts = { bootID: 'b', machineID: 'm', systemUUID: 's', cpus: 1, memoryBytes: 1 };

/** Returns the median of the process's CPU time in milliseconds, threads included. */
async function cpuOf(work: () => unknown): Promise<number> {
  const spent: number[] = [];
  for (let run = 0; run < reads; run++) {
    // Requests within a second receive the same answer.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return median(spent);
}

/** Returns the minimum of four files per container, with paths that were found before. */
function bareFiles(objects: readonly (ContainerState | SandboxState)[]): readonly string[] {
  return objects.flatMap(({ id, pid }) => {
    const found = groupDirectories(readFileSync(`/proc/${pid}/cgroup`, 'utf8'), id);
    if (!found) return [];
    const names =
      found.version === 2
        ? [
            join(found.cpu, 'cpu.stat'),
            join(found.memory, 'memory.current'),
            join(found.memory, 'memory.stat'),
          ]
        : [
            join(found.cpuacct, 'cpuacct.usage'),
            join(found.memory, 'memory.usage_in_bytes'),
            join(found.memory, 'memory.stat'),
          ];
    return names.map((name) => join('/sys/fs/cgroup', name));
  });
}

const run = (): Promise<readonly Row[]> =>
  withUsedPods(containers, async ({ running, reader }) => {
    await reader.read();
    const read = await cpuOf(() => reader.read());
    const told = await cpuOf(async () => {
      const snapshot = await reader.read();
      exposition(resourceMetrics(snapshot));
      exposition(cadvisorMetrics({ snapshot, facts, pauseImage: 'pause' }));
    });
    const files = bareFiles(running);
    const floor = await cpuOf(() => {
      for (const file of files) readFileSync(file);
    });
    const share = (ms: number) => (ms / (everySeconds * 1000)) * 100;
    return [
      {
        what: `CPU time to read the usage of ${containers} containers`,
        ...{
          value: read,
          unit: 'ms',
          floor: { what: 'reading only three files of each control group', value: floor },
        },
      },
      {
        what: `usage read every ${everySeconds} s, for autoscalers and metrics.k8s.io`,
        ...{ value: share(read), unit: '% of a core', target: '< 1', met: share(read) < 1 },
      },
      {
        what: `usage read and served as both kinds of metrics every ${everySeconds} s`,
        ...{ value: share(told), unit: '% of a core', target: '< 2', met: share(told) < 2 },
      },
    ];
  });

export const podUsage: Benchmark = { name: 'pod-usage', run };
