/** Resources that an idle master uses, and the time that one takes to start, both including its etcd. */

import { withMaster } from '../master.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';

const idleMs = 60_000;
const quickIdleMs = 5000;
const settleMs = 15_000;
const starts = 5;
const flags = ['--bind-address=127.0.0.1'];

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function run(quick: boolean): Promise<readonly Row[]> {
  const times: number[] = [];
  for (let start = 0; start < (quick ? 1 : starts); start++) {
    const from = performance.now();
    await withMaster(flags, async () => times.push(performance.now() - from));
  }
  const ms = quick ? quickIdleMs : idleMs;
  const { rss, cpu } = await withMaster(flags, async ({ process: { pid = 0 } }) => {
    await wait(settleMs);
    const before = usageOf(pid).cpu;
    await wait(ms);
    const after = usageOf(pid);
    return { rss: after.rss / 2 ** 20, cpu: ((after.cpu - before) * 100_000) / ms };
  });
  return [
    { what: 'master: started → ready', value: median(times), unit: 'ms' },
    { what: 'master idle: memory (RSS)', value: rss, unit: 'MB', target: '< 120', met: rss < 120 },
    { what: 'master idle: processor', value: cpu, unit: '% of a core', target: '< 1', met: cpu < 1 },
  ];
}

export const masterAlone = (quick: boolean): Benchmark => ({ name: 'master-alone', run: () => run(quick) });
