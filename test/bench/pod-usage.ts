/** What 100 real containers use, read every 15 seconds as Prometheus and metrics-server ask: its share of a core. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { systemExec } from '../../src/base/exec.ts';
import { exposition } from '../../src/base/exposition.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { ContainerState, SandboxState } from '../../src/kubelet/runtime/runtime.ts';
import { cadvisorMetrics } from '../../src/kubelet/server/plan/cadvisor-metrics.ts';
import { resourceMetrics } from '../../src/kubelet/server/plan/resource-metrics.ts';
import { groupDirectories } from '../../src/kubelet/usage/plan/cgroup-files.ts';
import { UsageReader } from '../../src/kubelet/usage/usage-reader.ts';
import { isReady, startNodeHarness } from '../integration/kubelet/node-harness.ts';
import { type Benchmark, median, type Row } from './report.ts';

const containers = 100;
const reads = 15;
const everySeconds = 15;

const facts = { bootID: 'b', machineID: 'm', systemUUID: 's', cpus: 1, memoryBytes: 1 };

/** Milliseconds of this process's CPU time, threads included, the middle of many. */
async function cpuOf(work: () => unknown): Promise<number> {
  const spent: number[] = [];
  for (let run = 0; run < reads; run++) {
    // Who asks again within a second gets the same answer.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return median(spent);
}

/** The four files without which nothing can be told, found before. */
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

async function run(): Promise<readonly Row[]> {
  const node = await startNodeHarness();
  try {
    await node.startAgent({ maxPods: containers + 10 });
    const names = Array.from({ length: containers }, (_, index) => `used-${index}`);
    for (const name of names) {
      await node.createPod(name, {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: node.images.busybox,
            imagePullPolicy: 'IfNotPresent',
            command: ['sleep', '10000'],
          },
        ],
      });
    }
    const pods = await Promise.all(names.map((name) => node.waitFor(name, isReady, 300_000)));
    await node.stopAgent();
    const objects = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    const running = objects.filter((object) => object?.state === 'running' && object.pod !== undefined);
    const of = (uid: string) => running.filter((object) => object?.pod?.uid === uid);
    const reader = new UsageReader({
      pods: () => pods,
      observe: (uid) => ({
        sandboxes: of(uid).filter((object) => object?.kind === 'sandbox'),
        containers: of(uid).filter((object) => object?.kind === 'container'),
      }),
      volume: (_pod, { name }) => join(node.dataDir, name),
      engineDirectory: () => '/var/lib/docker',
      exec: systemExec,
      clock: systemClock,
      log: silentLogger,
    });
    try {
      await reader.read();
      const read = await cpuOf(() => reader.read());
      const told = await cpuOf(async () => {
        const snapshot = await reader.read();
        exposition(resourceMetrics(snapshot));
        exposition(cadvisorMetrics({ snapshot, facts, pauseImage: 'pause' }));
      });
      const files = bareFiles(running.filter((object) => object !== undefined));
      const floor = await cpuOf(() => {
        for (const file of files) readFileSync(file);
      });
      const share = (ms: number) => (ms / (everySeconds * 1000)) * 100;
      return [
        {
          what: `${containers} containers read, CPU time of a read`,
          ...{ value: read, unit: 'ms', floor: { what: 'three bare files of each group', value: floor } },
        },
        {
          what: `read every ${everySeconds} s, as autoscalers and metrics.k8s.io need it`,
          ...{ value: share(read), unit: '% of a core', target: '< 1', met: share(read) < 1 },
        },
        {
          what: `read and told as both kinds of metrics every ${everySeconds} s`,
          ...{ value: share(told), unit: '% of a core', target: '< 2', met: share(told) < 2 },
        },
      ];
    } finally {
      await reader.close();
    }
  } finally {
    await node.close();
  }
}

export const podUsage: Benchmark = { name: 'pod-usage', run };
