/**
 * Time until a cluster is ready, time until the version is printed, and resource usage of an idle cluster.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { Cluster } from '../e2e/harness/cluster.ts';
import { etcdAlone } from './etcd-alone.ts';
import { type Benchmark, median, type Row, timed } from './report.ts';
import { usageOf } from './usage.ts';

const executable = join(import.meta.dirname, '../../dist/minik8s');
const rounds = 3;
/** Duration of the measurement of an idle cluster, in milliseconds: several heartbeats. */
const idleMs = 60_000;
const settleMs = 15_000;

async function startRows(): Promise<readonly Row[]> {
  const version = await timed(15, () => systemExec(executable, ['version']));
  const node = await timed(15, () => systemExec(process.execPath, ['-e', '0']));
  const ups: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const cleanups: (() => Promise<void>)[] = [];
    try {
      const start = performance.now();
      await Cluster.start({ after: (fn) => cleanups.push(fn) });
      ups.push(performance.now() - start);
    } finally {
      for (const cleanup of cleanups) await cleanup();
    }
  }
  return [
    {
      what: 'minik8s version',
      value: median(version),
      unit: 'ms',
      floor: { what: 'node -e 0', value: median(node) },
      target: '< 60',
      met: median(version) < 60,
    },
    {
      what: 'up: empty data directory → node Ready',
      value: median(ups),
      unit: 'ms',
      floor: { what: 'etcd alone, until it answers', value: median(await timed(rounds, etcdAlone)) },
      target: '< 4000',
      met: median(ups) < 4000,
    },
  ];
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns rows with the target for the memory of `up` in MB. */
export async function idleRows(mostMb: number): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1 << 30)'], { stdio: 'ignore' });
  try {
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) });
    await wait(settleMs);
    const pids = [cluster.pid, bare.pid ?? 0] as const;
    const before = pids.map(usageOf);
    await wait(idleMs);
    const [up, floor] = pids.map(usageOf).map(({ cpu, rss }, i) => ({
      rss: rss / 2 ** 20,
      cpu: ((cpu - (before[i]?.cpu ?? 0)) / (idleMs / 1000)) * 100,
    }));
    if (!up || !floor) throw new Error('a process to be measured is gone');
    const nothing = 'Node doing nothing';
    return [
      {
        what: 'up idle: memory (RSS)',
        value: up.rss,
        unit: 'MB',
        floor: { what: nothing, value: floor.rss },
        target: `< ${mostMb}`,
        met: up.rss < mostMb,
      },
      {
        what: 'up idle: processor',
        value: up.cpu,
        unit: '% of a core',
        floor: { what: nothing, value: floor.cpu },
        target: '< 2',
        met: up.cpu < 2,
      },
    ];
  } finally {
    bare.kill();
    for (const cleanup of cleanups) await cleanup();
  }
}

export const start: Benchmark = { name: 'start', run: startRows };
export const idle: Benchmark = { name: 'idle', run: () => idleRows(200) };
