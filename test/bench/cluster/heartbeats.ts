/** Resources that a master uses while a thousand nodes send heartbeats. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { processesNaming, programOf } from '../../e2e/harness/processes.ts';
import { withMaster } from '../master.ts';
import type { Benchmark, Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import type { AgentsReport, AgentsTask } from './simulated-agents.ts';

const nodes = Number(process.env.MINIK8S_BENCH_NODES ?? 1000);
const heartbeatMs = 10_000;
const statusMs = 300_000;
const idleMs = 20_000;
const settleMs = 30_000;
const measuredMs = 90_000;
/** Time in milliseconds to register all nodes and to open the watches of each. */
const joinMs = 600_000;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Taken {
  /** Processor cores. */
  readonly cpu: number;
  /** Resident memory in MB. */
  readonly rss: number;
}

/** Measures the processor time of each process during `ms`, and its memory at the end. */
async function measure(pids: readonly number[], ms: number): Promise<readonly Taken[]> {
  const start = performance.now();
  const before = pids.map(usageOf);
  await wait(ms);
  const seconds = (performance.now() - start) / 1000;
  return pids.map(usageOf).map(({ cpu, rss }, i) => ({
    cpu: (cpu - (before[i]?.cpu ?? 0)) / seconds,
    rss: rss / 2 ** 20,
  }));
}

const sum = (all: readonly Taken[]): Taken => ({
  cpu: all.reduce((total, { cpu }) => total + cpu, 0),
  rss: all.reduce((total, { rss }) => total + rss, 0),
});

async function run(): Promise<readonly Row[]> {
  // The default range is too small for a /24 for each of a thousand nodes.
  return withMaster(['--cluster-cidr=10.128.0.0/9'], async ({ process, dataDir, server, authority }) => {
    const etcd = processesNaming(dataDir).find((pid) => programOf(pid) === 'etcd');
    if (etcd === undefined) throw new Error('the etcd of the master does not run');
    const pids = [process.pid ?? 0, etcd];
    await wait(5_000);
    const idle = sum(await measure(pids, idleMs));
    const agents = new SimulatedAgents();
    try {
      await agents.start({ server, authority, nodes, heartbeatMs, statusMs });
      await wait(settleMs);
      await agents.report();
      const [own, store] = await measure(pids, measuredMs);
      const report = await agents.report();
      if (!own || !store) throw new Error('a process to be measured has ended');
      return rows(idle, own, store, report);
    } finally {
      agents.stop();
    }
  });
}

function rows(idle: Taken, own: Taken, store: Taken, report: AgentsReport): readonly Row[] {
  const all = sum([own, store]);
  const expected = Math.floor((nodes * measuredMs) / heartbeatMs);
  const p99 = report.latencies[Math.floor(report.latencies.length * 0.99)] ?? Number.NaN;
  const floor = (value: number) => ({ what: 'the same master without nodes', value });
  const title = (what: string) => `${nodes} nodes: ${what}`;
  if (report.failures.length > 0) process.stderr.write(`${report.failures.join('\n')}\n`);
  return [
    {
      what: title('processor, master and etcd'),
      value: all.cpu,
      unit: 'cores',
      floor: floor(idle.cpu),
      target: '< 1',
      met: all.cpu < 1,
    },
    { what: title('processor, master alone'), value: own.cpu, unit: 'cores' },
    {
      what: title('memory (RSS), master and etcd'),
      value: all.rss,
      unit: 'MB',
      floor: floor(idle.rss),
      target: '< 600',
      met: all.rss < 600,
    },
    { what: title('memory (RSS), master alone'), value: own.rss, unit: 'MB' },
    {
      what: title(`leases renewed of ${expected} due`),
      value: report.renewals,
      unit: '',
      target: 'all, none failed',
      met: report.renewals >= expected * 0.99 && report.failures.length === 0,
    },
    { what: title('a renewal, p99'), value: p99, unit: 'ms' },
    { what: title('statuses posted'), value: report.statuses, unit: '' },
    {
      what: title('data sent to watches'),
      value: report.watched / 2 ** 20 / (measuredMs / 1000),
      unit: 'MB/s',
    },
  ];
}

class SimulatedAgents {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const program = join(import.meta.dirname, 'simulated-agents.ts');
    const child = spawn(process.execPath, ['--max-old-space-size=8192', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async start(task: AgentsTask): Promise<void> {
    const late = setTimeout(() => this.stop(), joinMs);
    await this.#ask(task);
    clearTimeout(late);
  }

  /** Returns the measurements since the last report. */
  report(): Promise<AgentsReport> {
    return this.#ask({}) as Promise<AgentsReport>;
  }

  async #ask(line: unknown): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the simulated nodes ended before they were ready');
    return JSON.parse(value);
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

export const heartbeats: Benchmark = { name: 'heartbeats', run };
